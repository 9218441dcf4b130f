/** A job that was given up, as people and programs see it. */
export interface LostJob {
  /** Eight hex digits, made from the job's own id. */
  readonly id: string;
  /** `delivery` for messages; else what the job was to do. */
  readonly job: string;
  /** `slack C123`, for messages. */
  readonly where?: string;
  /** What the message is about: a command, or the beginning of its text. Secrets are masked. */
  readonly about?: string;
  readonly why: string;
  readonly attempts: number;
  readonly lostAtMs: number;
}
