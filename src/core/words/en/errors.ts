/** Calls that were not acceptable, and starts that failed. What programs look at is the error's code. */
export const errors = {
  "error.internal": "Something went wrong here; the operator's log says what.",
  "error.draining": "The gateway is stopping and starts nothing new. Try again when it is back.",
  "error.stateLost":
    "Not run: this gateway has lost touch with the state it shares with others. Try again when /status is well.",
  "error.reportedLost": "Another gateway has reported this run as lost; it is not started.",
  "error.outOfTouch":
    "Not run: this gateway was out of touch for so long that another has reported this as lost. Ask for it again.",

  "error.command.none": "Provide a command to start.",
  "error.command.nul": "The command contains a NUL byte, which no shell can run. Nothing was run.",
  "error.command.characters":
    "The command has {characters} characters; limits.maxCommandChars allows {most}. Put it in a script file and run that.",
  "error.command.bytes":
    "The command has {bytes} bytes; the system takes at most {most}. Put it in a script file and run that.",
  "error.command.mayBeCut":
    "Your app splits messages of this length, so this may be only the beginning of a command. Nothing was run. Put it in a script file, or use the web chat.",
  "error.nul": "{parameter} contains a NUL byte. Nothing was run.",
  "error.host.type": "Invalid exec host of type {type}. Allowed values: {allowed}.",
  "error.host.value":
    'Invalid exec host "{value}". Allowed values: {allowed}. It is not a host name; for a machine use host=node with node=<id or name>.',
  "error.host.sandbox":
    'host=sandbox needs a sandbox runtime, and none is active. Set agents.defaults.sandbox.mode to "all", or use host=gateway with approvals. Nothing was run.',
  "error.host.notAllowed":
    "Exec host not allowed (requested {requested}; configured {configured}). Set tools.exec.host={fix} to allow it.",
  "error.host.unavailable": "host={host} is not available on this gateway. Nothing was run.",
  "error.timeout.two": "timeout and timeoutSeconds differ; give one of them, in seconds.",
  "error.timeout": "Invalid timeout {value}. Give seconds (fractions are fine), or 0 for no limit.",
  "error.workdir":
    'The working directory "{folder}" is unavailable or not a directory. Give an existing path; it is taken literally, without ~ or $VAR. Nothing was run.',
  "error.workdir.gone":
    "The working directory {folder} does not exist any more or is not a directory. Nothing was run.",
  "error.env.invalid":
    "Not usable as environment variables: {names}. A name has letters, digits and underscores; a value has no NUL and at most 128 KiB. Nothing was run.",
  "error.env.nul": "{name} (its value has a NUL character)",
  "error.env.long": "{name} (its value is too long)",
  "error.env.forbidden": {
    one: "Security violation: the variable {names} is forbidden for host={host}, because it can change which program runs. Nothing was run.{advice}",
    other:
      "Security violation: the variables {names} are forbidden for host={host}, because it can change which program runs. Nothing was run.{advice}",
  },
  "error.env.path": " For PATH, an operator can set tools.exec.pathPrepend, or name the program by its full path.",
  "error.tool.denied":
    "exec is switched off here by tool policy (tools.allow/tools.deny). An operator can change that.",
  "error.elevated":
    "Elevated mode is not available in this version: no call leaves its sandbox. An operator can send commands elsewhere with tools.exec.host. Nothing was run.",
  "error.exec.securityDeny": "exec denied: host={host} security=deny, set by {layer}.",
  "error.exec.denied": "exec denied: {why} (set by {layer}).",
  "error.exec.policy": "the policy does not allow it",
  "error.exec.control": "Not run: {why}.",
  "error.exec.deniedByNow": "Not run: exec is denied by now, set by {layer}.",
  "error.approvals.many":
    "{limit} requests are waiting for a person already (limits.maxPendingApprovals). Nothing was asked or run.",
  "error.line.full":
    "{running} commands run and {waiting} wait in line, the most that may (limits.maxQueuedRuns). Nothing was run; try again later.",
  "error.line.own":
    "{own} commands of this conversation wait in line already; the other places are kept for other conversations (limits.maxQueuedRuns is {limit}). Nothing was run; /stop takes them out of the line.",
  "error.preflight": "exec preflight: {problem}",
  "error.preflight.shebang":
    'This is a script for {interpreter}, but a command is run by the shell, which would take it for shell text. Save it to a file and run "{interpreter} <file>". Nothing was run.',
  "error.preflight.shellSyntax":
    "exec preflight: {place} starts with shell syntax, but it is run as a script. Nothing was run.",
  "error.preflight.variable":
    "exec preflight: {place} uses {variable} like a shell variable, which {language} does not know. Use {instead}. Nothing was run.",

  "error.spawn.workdirNul": "The working directory has a NUL character in it. Remove it and try again.",
  "error.spawn.commandNul": "The command has a NUL character in it. Remove it and try again.",
  "error.spawn.env": "The environment variable {name} can not be passed to a program.",
  "error.spawn.tooBig":
    "The command or its environment is too large for the system (about 128 KiB for one word). Put the text into a file and run that.",
  "error.spawn.notFound": "{file} was not found, or the interpreter it names was not. Nothing was run.",
  "error.spawn.permission": "{file} may not be executed here (permission denied). Nothing was run.",
  "error.spawn.noRoom":
    "The system has no room for another process ({errno}). Stop some running sessions and try again.",
  "error.spawn.other": "{file} could not be started ({problem}).",
  "note.heldOpen": "A process it started still held the output open; later output was not collected.",
  "note.leftRunning": {
    one: "1 process it left running was stopped.",
    other: "{count} processes it left running were stopped.",
  },
  "note.notConfirmed": "It could not be confirmed that everything it started has ended.",

  "error.approval.unknown": 'No request with the id "{id}" is waiting. /status lists the ones that are.',
  "error.approval.ambiguous": '{matches} requests match "{id}". Use the full id: {ids}.',
  "error.approval.expired": "Request {slug} has expired; nothing was run. Ask for it again.",
  "error.approval.cancelled": "Request {slug} was cancelled. {why} Nothing was run.",
  "error.approval.notNeeded": "It is no longer needed.",
  "error.approval.waiting": "Request {slug} is still waiting; try again.",
  "error.approval.allowed": "Request {slug} was already allowed by {who}.",
  "error.approval.denied": "Request {slug} was already denied by {who}.",
  "error.approval.noRule": "Request {slug} stored no rule, so there is nothing to take back.",
  "error.approval.revoked": "What request {slug} stored was already taken back by {who}.",
  "error.approval.notOffered": '"{decision}" is not offered for this request. Choose: {offered}.',
  "error.approval.tooLateToSnooze": "Request {slug} expires too soon to be put off. Decide it now.",
  "error.approval.askedAgain": "Request {slug} was already asked again by {who}.",
  "error.approval.stillWaits": "Request {slug} still waits for an answer, so there is nothing to ask again.",
  "error.approval.ranUnanswered":
    "Request {slug} ran though nobody answered (askFallback), so there is nothing to ask again.",
  "error.approval.onlyPerson": "Only a person can decide an approval, never an agent.",
  "error.approval.notYours": "You are not an approver here, so nothing was changed. /whoami shows what you may do.",
  "error.approval.yourOwn": "You asked for this yourself; somebody else has to decide it (approvals.selfApproval).",
  "error.access.notHere": "You are not authorized to use this bot here.",
  "error.access.command": "You may not use /{command} here. /whoami shows what you may do.",
  "error.access.buttons": "You may not use these buttons. /whoami shows what you may do.",
  "error.access.work": "You may not give me work here. /whoami shows what you may do.",
  "error.pairing.approved": "{who} was already let in by {by}.",
  "error.pairing.dismissed": "The request of {who} was already dismissed by {by}. They may ask again.",
  "error.pairing.expired": "The request of {who} has expired. They may ask again by writing to the bot.",
  "error.pairing.gone": "This request to be let in is not kept any more. They may ask again by writing to the bot.",
  "error.exec.loosen":
    "Only an owner may open what the configuration keeps closed: here it is {before}, and you asked for {after}. Nothing was changed.",
  "error.menu.notYours": "Only who asked can choose here. Type the command yourself.",
  "error.menu.answered": "Already answered: {choice}. To choose anew, type /{command} again.",
  "error.menu.stale": "This list is no longer kept, so nothing was done. Type the command again.",
  "error.menu.staleOf": "This list no longer fits, so nothing was done. Type /{command} again.",
  "error.pairing.onlyOwner": "Only an owner may let people in, so nothing has changed. /whoami shows what you may do.",
  "error.pairing.locked": "Too many wrong codes. Approving is closed for ten minutes.",
  "error.pairing.unknown": "No pairing request has this code. It may have expired; ask for a new one.",
  "error.run.unknown": "That run is not known any more.",
  "error.run.logGone": "That run is not known any more; its log is gone.",
  "error.run.notRunning": "{session} is not running any more.",
  "error.agent.full": "Too many messages wait for the agent here already; this one was not taken. /stop drops them.",

  "error.cron.ambiguous": '{matches} jobs match "{job}": {ids}. Give the whole id.',
  "error.cron.unknown": 'There is no job "{job}". /cron list shows them.',
  "error.cron.many": "There are {most} jobs, the most there can be. Remove one first.",
  "error.cron.name": 'A job is called "{name}" already. Choose another name.',
  "error.cron.when": "Say when exactly once: at (2031-04-05T09:00 or 30m), every (15m) or cron.",
  "error.cron.tooOften": "every must be at least {least}s, not {every}.",
  "error.cron.what": "Say what exactly once: a command to run, or an event to tell the session.",
  "error.cron.length": "What to do has 1 to {most} characters.",
  "error.cron.never": "The schedule {schedule} never comes due.",
  "error.cron.expression": 'The cron expression "{cron}" is not valid: {problem}',
  "error.cron.expressionIn": 'The cron expression "{cron}" in time zone "{timezone}" is not valid: {problem}',
  "error.cron.moment": '"{text}" is no moment. Give a time from now such as 30m, or a date such as 2031-04-05T09:00.',
  "error.cron.passed": "{text} has passed.",
  "error.cron.passedIn": "{text} has passed in {timezone}.",
  "error.cron.interval": '"{text}" is no interval. Give one such as 45s, 15m, 2h or 1d.',

  "error.argument.unknown": 'Unknown parameter "{parameter}" for {tool}. Known: {known}.',
  "error.argument.near": 'Unknown parameter "{parameter}" for {tool}. Did you mean "{near}"? Known: {known}.',
  "error.argument.invalid": "Invalid {parameter} for {tool}: {why}.",
  "error.argument.all": "these arguments",
  "error.argument.notAcceptable": "not acceptable",
  "session.action": 'Unknown action "{action}". Known: {known}.',
  "session.actionNear": 'Unknown action "{action}". Did you mean "{near}"? Known: {known}.',
  "session.idMissing": 'sessionId is required for {action}. "list" shows the sessions.',
  "session.arguments": "These arguments are not usable: {why}.",
  "session.unknown": "No session found for {session}.",
  "session.noneActive": "No active session found for {session}.",
  "session.noneFinished": "No finished session found for {session}.",
  "session.foreground": "Session {session} is not backgrounded: the call that started it is still waiting for it.",
  "session.ended": "Session {session} has ended; stdin is not writable.",
  "session.noInput":
    'stdin is not writable for session {session}. Start the command with pty: true, or with stdin: "open", to send it input.',
  "session.inputClosed": "stdin is not writable: the program closed it, ended, or was started without an open stdin.",
  "session.notStarted": "Session {session} has not started yet; stdin is not writable.",
  "session.inputFull":
    "The program is not reading its input: {bytes} bytes wait already, and at most {most} may. Nothing was written.",
  "session.noTerminal":
    "Session {session} has no terminal, so it has no keys. Use write, or start the command with pty: true.",
  "session.notStartedTerminal": "Session {session} has not started yet; there is no terminal to resize.",
  "session.endedTerminal": "Session {session} has ended; there is no terminal to resize.",
  "session.terminalGone": "There is no terminal to resize: the program ended, or was started without one.",
  "session.noSize": "Session {session} has no terminal, so it has no size. Start the command with pty: true.",
  "session.sizeMissing": "resize needs cols (1 to {cols}), rows (1 to {rows}), or both.",
  "session.sizeBad": "{name} must be a whole number from 1 to {most}; {value} is not. The size was not changed.",
  "session.resized": "Session {session} now has a terminal of {cols} columns and {rows} rows.",
  "session.keyUnknown":
    'Unknown key "{key}". Known: Enter, Tab, Escape, Up, Down, Home, PageUp, F1 to F12 …, one character, ^c, C-c, M-x, S-Tab. Text goes into "literal". Nothing was sent.',
  "session.keyNear":
    'Unknown key "{key}". Did you mean "{near}"? Known: Enter, Tab, Escape, Up, Down, Home, PageUp, F1 to F12 …, one character, ^c, C-c, M-x, S-Tab. Text goes into "literal". Nothing was sent.',
  "session.none": "No running or recent sessions.",
  "session.onGateway": "On gateway {gateway}:",
  "session.noOutput": "(no output recorded)",
  "session.noOutputYet": "(no output yet)",
  "session.noNewOutput": "(no new output)",
  "session.note": "[{note}]",
  "session.dropped": "[{characters} characters were dropped before this poll; log may still have them.]",
  "session.outputGone": "[Earlier output is no longer in memory.]",
  "session.page": "[showing last {shown} of {total} lines; pass offset/limit to page]",
  "session.queued": "Waits in line for other commands to end; it starts by itself. kill takes it out of the line.",
  "session.running": "Process still running.",
  "session.waiting":
    "No output for {seconds} s and stdin is open: the process is probably waiting for input (write, send-keys, submit, paste).",
  "session.waitingAt":
    "No output for {seconds} s and stdin is open: the process is probably waiting for input (write, send-keys, submit, paste). Last line: {line}",
  "session.how.signal": "signal {signal}",
  "session.how.code": "code {code}",
  "session.how.unknown": "unknown exit code",
  "session.end.stopped": "Process stopped by request ({how}).",
  "session.end.timedOut":
    "Process timed out and was stopped ({how}). It may have had effects already: look before running it again.",
  "session.end.shutdown": "Process stopped because the gateway is stopping ({how}).",
  "session.end.notStarted": "Process could not be started.",
  "session.end.lost": "How the process ended is unknown: its host was lost.",
  "session.end.exited": "Process exited with {how}.",
  "session.killedInLine": "Taken out of the line: session {session} never ran.",
  "session.killed": "Termination requested for session {session}. Poll it to see its end.",
  "session.cleared": "Cleared session {session}.",
  "session.removed": "Removed session {session}.",
  "session.removedRunning": "Removed session {session} (termination requested).",
  "session.sent.wrote": "Wrote {bytes} bytes to session {session}.{waiting}",
  "session.sent.wroteAndEnded": "Wrote {bytes} bytes and ended stdin to session {session}.{waiting}",
  "session.sent.keys": "Sent {bytes} bytes to session {session}.{waiting}",
  "session.sent.submitted": "Submitted to session {session}.{waiting}",
  "session.sent.pasted": "Pasted {characters} characters to session {session}.{waiting}",
  "session.sent.pastedBracketed": "Pasted {characters} characters (bracketed) to session {session}.{waiting}",
  "session.sent.waiting": " {bytes} bytes wait until the program reads.",
} as const;
