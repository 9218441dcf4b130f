/** What a person can do on every platform. Each emulator implements it in its own terms and adds to it. */
export interface PersonApi<Message> {
  /** Types a message. Resolves to the platform's id of it. */
  say(user: string, chat: string, text: string, options?: { readonly thread?: string }): Promise<string>;
  /** Sends a native slash command; `text` is everything after its name. */
  slash(user: string, chat: string, command: string, text?: string): Promise<unknown>;
  /** Presses a button by its label or its action id. Resolves once the platform's client would stop its spinner. */
  press(user: string, messageId: string, button: string): Promise<unknown>;
  submitModal(user: string, values: Readonly<Record<string, string>>): Promise<unknown>;
  upload(user: string, chat: string, file: { readonly name: string; readonly text: string }): Promise<string>;
  /** The first message, now or later, that `predicate` accepts. */
  waitForMessage(predicate: (message: Message) => boolean, ms?: number): Promise<Message>;
  /** Plain text of what `user` sees in `chat`: one block per message, buttons as `[Label]`. */
  screenText(user: string, chat: string): string;
}
