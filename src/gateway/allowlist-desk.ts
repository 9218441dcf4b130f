/** The allowlist of this host as `/allowlist` sees and changes it: the same file and the same rules as the command line's. */
import type { AllowlistDesk, ListedRule } from "../commands/services.ts";
import { preparePattern } from "../core/approvals/allow-always.ts";
import { addRules, removeRules, rulesOf, scopesOf } from "../core/approvals/approvals-document.ts";
import type { ApprovalsFile } from "../core/approvals/approvals-file.ts";
import type { NewId } from "../core/clock.ts";
import type { Config } from "../core/config/schema.ts";
import { freshFileFacts } from "../core/exec/file-facts.ts";
import { agentSettings, defaultAgentId } from "../core/exec/settings.ts";
import type { SearchPath } from "./search-path.ts";

/** Fewer characters of an id are a pattern. */
const MIN_ID_CHARS = 8;

export function createAllowlistDesk(options: {
  readonly config: () => Config;
  readonly stateDir: string;
  readonly home: string;
  readonly newId: NewId;
  readonly approvalsFile: Pick<ApprovalsFile, "snapshot" | "update">;
  readonly searchPath: Pick<SearchPath, "ready" | "folders">;
}): AllowlistDesk {
  const { config, approvalsFile } = options;
  const prepare: AllowlistDesk["prepare"] = async (typed) => {
    await options.searchPath.ready();
    return preparePattern(typed, {
      cwd: agentSettings(config(), defaultAgentId(config()), options.stateDir).workspace,
      path: options.searchPath.folders(),
      facts: freshFileFacts(),
      trustedDirs: config().tools.exec.safeBinTrustedDirs,
      home: options.home,
    });
  };

  return {
    mayChange: () => config().commands.allowlist,
    agents: () => [...new Set([defaultAgentId(config()), ...config().agents.list.map(({ id }) => id)])],
    prepare,

    list() {
      const { document } = approvalsFile.snapshot();
      return scopesOf(document).flatMap((scope) => rulesOf(document, scope).map((rule) => ({ scope, rule })));
    },

    async add(scope, rule) {
      const id = options.newId();
      let isNew = false;
      await approvalsFile.update((document) => {
        const next = addRules(document, scope, [{ ...rule, id }], options.newId);
        isNew = next !== document;
        return next;
      });
      return isNew ? id : undefined;
    },

    async remove(typed, agent) {
      const spellings = new Set([typed, (await prepare(typed)).pattern]);
      const removed: ListedRule[] = [];
      await approvalsFile.update((document) =>
        scopesOf(document)
          .filter((scope) => agent === undefined || scope === agent)
          .reduce((so, scope) => {
            const result = removeRules(
              so,
              scope,
              ({ id, pattern }) =>
                spellings.has(pattern) || (typed.length >= MIN_ID_CHARS && id?.startsWith(typed) === true),
            );
            removed.push(...result.removed.map((rule) => ({ scope, rule })));
            return result.document;
          }, document),
      );
      return removed;
    },
  };
}
