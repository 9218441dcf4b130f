/** A process that adds access groups to a configuration: `edit-worker.ts STATE_DIR NAME COUNT`. */
import { editConfig } from "../../../src/core/config/edit.ts";
import { loadConfig } from "../../../src/core/config/load.ts";

const [stateDir = "", name = "", count = "0"] = process.argv.slice(2);
for (let index = 0; index < Number(count); index++) {
  const loaded = await loadConfig({ env: {}, stateDir, workingDir: stateDir });
  await editConfig(loaded, {
    kind: "set",
    path: ["accessGroups", `group-${name}-${index}`],
    value: { type: "message.senders", members: { slack: [`U${index}`] } },
  });
}
