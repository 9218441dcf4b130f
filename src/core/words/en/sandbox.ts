/** What keeps a sandbox from being made, and what a call in one can not have. */
export const sandbox = {
  "error.sandbox": "This session runs in a sandbox, and the sandbox can not be made: {why} Nothing was run.",
  "error.sandbox.workdir":
    'The working directory "{folder}" is not a directory that the sandbox of this session sees ({seen}). Nothing was run.',
  "error.sandbox.variables":
    "{count} environment variables are more than a sandbox takes. Put them in a file. Nothing was run.",
  "error.sandbox.tool": "This tool is switched off in sandboxed sessions ({key}). An operator can change that.",

  "sandbox.why.platform": "the bwrap backend needs Linux.",
  "sandbox.why.missing": "bubblewrap is not installed; install the package bubblewrap.",
  "sandbox.why.bash": "bash is not installed; it starts the sandbox.",
  "sandbox.why.old": "{bwrap} is too old; bubblewrap 0.5 or newer is needed.",
  "sandbox.why.backend": "the backend {backend} is not available in this version; set {key} to bwrap.",
  "sandbox.why.key": "the bwrap backend does not have {key}; remove that key.",
  "sandbox.why.network": 'the bwrap backend has no network; set {key} to "none".',
  "sandbox.why.value": '{key} can not be "{value}".',
  "sandbox.why.bind": '"{bind}" in {key}: {problem}',
  "sandbox.why.limit": "{key} can not be enforced on this machine: {why} Remove the key, or allow it.",
  "sandbox.why.link": "{path} is not a directory of its own; remove it.",
  "sandbox.why.workspace":
    "the workspace {path} holds files of the system, keys, or the state of this gateway; choose another, or workspaceAccess none.",
  "sandbox.why.silent": "bubblewrap did not answer within {seconds} s.",
  "sandbox.why.said": "bwrap says: {line}.",
  "sandbox.why.userns": "{line}. The system forbids what it needs; see {setting}.",

  "sandbox.limit.none": "there is no control group for {controller}.",
  "sandbox.limit.closed": "the control group for {controller} can not be written ({code}).",
  "sandbox.limit.program": "{program} is not installed (package util-linux).",

  "sandbox.bind.syntax": "write it as source:target:ro or source:target:rw.",
  "sandbox.bind.source-relative": "the source must be an absolute path without . and .. in it.",
  "sandbox.bind.source-missing": "the source does not exist.",
  "sandbox.bind.source-kind": "the source is neither a directory nor a file.",
  "sandbox.bind.source-blocked": "the source leads to files of the system, to keys, or to the state of this gateway.",
  "sandbox.bind.source-external":
    "the source is outside the workspaces; docker.dangerouslyAllowExternalBindSources allows it.",
  "sandbox.bind.source-swappable":
    "the source is below a workspace in which sandboxed commands can write, and could be replaced by a link.",
  "sandbox.bind.target-relative": "the target must be an absolute path without . and .. in it.",
  "sandbox.bind.target-system": "the target is part of the system in the sandbox.",
  "sandbox.bind.target-reserved":
    "the target covers a workspace; docker.dangerouslyAllowReservedContainerTargets allows it.",
  "sandbox.bind.target-twice": "something else is mounted there already.",
} as const;
