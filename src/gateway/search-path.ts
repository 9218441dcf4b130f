/**
 * The PATH that commands are looked up in and run with: the login shell's folders first, then the gateway's own
 * (exec.md section 7). Asked once, beside everything else that starts, and frozen from then on; whoever needs it
 * waits for the answer, so the first command of a slow shell is late, not wrong.
 */
import { loginPath } from "../core/exec/login-path.ts";
import { mergePaths, splitPath } from "../core/exec/shell.ts";

/** Linux services start with this; macOS ones have Homebrew's folder too (seed 000). */
const MINIMAL =
  process.platform === "darwin" ? "/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin" : "/usr/local/bin:/usr/bin:/bin";

export class SearchPath {
  readonly #own: readonly string[];
  readonly #asked: Promise<void>;
  #folders: readonly string[] | undefined;

  constructor(env: Readonly<Record<string, string | undefined>>, onWarning: (message: string) => void) {
    this.#own = splitPath(env.PATH || MINIMAL);
    this.#asked = loginPath({ env, onWarning })
      .then((login) => mergePaths(login ?? [], this.#own))
      .catch((error) => {
        onWarning(`The PATH of the login shell is not known: ${(error as Error).message}`);
        return this.#own;
      })
      .then((folders) => {
        this.#folders = Object.freeze([...folders]);
      });
  }

  ready(): Promise<void> {
    return this.#asked;
  }

  /** Before `ready` has resolved there is nothing to look up: fail closed. */
  folders(): readonly string[] {
    return this.#folders ?? [];
  }
}
