import type { errors as english } from "../en/errors.ts";
import { translation } from "../template.ts";

export const errors = translation<typeof english>()({
  "error.internal": "Có lỗi xảy ra ở đây; nhật ký của người vận hành cho biết lỗi gì.",
  "error.draining": "Gateway đang dừng và không bắt đầu việc mới. Hãy thử lại khi nó trở lại.",
  "error.stateLost": "Không chạy: gateway này mất liên lạc với trạng thái dùng chung. Hãy thử lại khi /status báo ổn.",
  "error.reportedLost": "Một gateway khác đã báo lần chạy này bị mất; nó không được khởi động.",
  "error.outOfTouch":
    "Không chạy: gateway này mất liên lạc quá lâu nên một gateway khác đã báo lệnh này bị mất. Hãy yêu cầu lại.",

  "error.command.none": "Hãy nhập một lệnh để chạy.",
  "error.command.nul": "Lệnh chứa byte NUL mà không shell nào chạy được. Chưa có gì được chạy.",
  "error.command.characters":
    "Lệnh có {characters} ký tự; limits.maxCommandChars cho phép {most}. Hãy đặt lệnh vào một tệp script rồi chạy tệp đó.",
  "error.command.bytes":
    "Lệnh có {bytes} byte; hệ thống nhận nhiều nhất {most}. Hãy đặt lệnh vào một tệp script rồi chạy tệp đó.",
  "error.command.mayBeCut":
    "Ứng dụng của bạn cắt những tin dài như thế này, nên đây có thể chỉ là phần đầu của lệnh. Chưa có gì được chạy. Hãy đặt lệnh vào một tệp script, hoặc dùng trò chuyện trên web.",
  "error.nul": "{parameter} chứa byte NUL. Chưa có gì được chạy.",
  "error.host.type": "Exec host không hợp lệ, kiểu {type}. Giá trị được phép: {allowed}.",
  "error.host.value":
    'Exec host "{value}" không hợp lệ. Giá trị được phép: {allowed}. Đây không phải tên máy; với một máy hãy dùng host=node cùng node=<id hoặc tên>.',
  "error.host.sandbox":
    'host=sandbox cần một sandbox, nhưng không có sandbox nào hoạt động. Hãy đặt agents.defaults.sandbox.mode thành "all", hoặc dùng host=gateway với phê duyệt. Chưa có gì được chạy.',
  "error.host.notAllowed":
    "Exec host không được phép (yêu cầu {requested}; đã cấu hình {configured}). Hãy đặt tools.exec.host={fix} để cho phép.",
  "error.host.unavailable": "host={host} không có trên gateway này. Chưa có gì được chạy.",
  "error.exec.deniedOnNode": "exec bị từ chối trên node {node}: {why} (do {layer} ở đó đặt).",
  "error.node.none":
    "host=node: chưa có node nào được ghép với gateway này. Hãy chạy ở máy kia: openclaw-exec node run. Chưa chạy gì cả.",
  "error.node.noneConnected": "host=node: không có node đã ghép nào đang kết nối. Đã biết: {nodes}. Chưa chạy gì cả.",
  "error.node.noneCanRun":
    "host=node: không node nào đang kết nối được phép chạy lệnh (system.run chưa được cung cấp, phê duyệt hoặc cho phép). Đang kết nối: {nodes}. Chưa chạy gì cả.",
  "error.node.several":
    "host=node: có nhiều node đang kết nối: {nodes}. Hãy chọn bằng node=<id hoặc tên>. Chưa chạy gì cả.",
  "error.node.unknown": 'Không có node "{node}". Đã biết: {nodes}. Chưa chạy gì cả.',
  "error.node.ambiguous": 'Nhiều node khớp với "{node}": {nodes}. Hãy ghi id dài hơn. Chưa chạy gì cả.',
  "error.node.offline": "Node {node} không kết nối. Chưa chạy gì cả.",
  "error.node.cannotRun":
    "Node {node} không được chạy lệnh ở đây: system.run chưa được cung cấp, phê duyệt hoặc cho phép (openclaw-exec nodes describe). Chưa chạy gì cả.",
  "error.node.bound":
    "node của exec không được phép (gắn với {bound}, yêu cầu {requested}). Đặt tools.exec.node để cho phép. Chưa chạy gì cả.",
  "error.node.silent": "Node {node} không trả lời kịp. Chưa chạy gì cả.",
  "error.node.nonsense":
    "Node {node} trả lời không đúng với điều được hỏi; có thể phiên bản khác nhau. Chưa chạy gì cả.",
  "error.node.tooLarge":
    "Lệnh gọi quá lớn để gửi tới node {node}: lệnh và các biến cộng lại tối đa khoảng 1 MiB. Chưa chạy gì cả.",
  "error.node.refused": "Node {node} đã không chạy. {why}",
  "error.node.many": "Đã có {most} node, mức tối đa. Hãy xóa bớt một node trước.",
  "error.node.noRequest":
    'Không có node nào đang chờ với "{request}". openclaw-exec nodes pending liệt kê các node đang chờ.',
  "error.node.severalRequests": 'Nhiều yêu cầu khớp với "{request}": {nodes}. Hãy ghi đầy đủ id.',
  "error.node.name": "Tên node có từ 1 đến {most} chữ cái, chữ số, dấu cách và . _ -.",
  "error.nodeRun.approvalRequired": "Chính sách ở đó cần phê duyệt, nhưng không có phê duyệt nào đi kèm.",
  "error.nodeRun.changed": "Điều đã quyết định không còn là điều chính sách ở đó sẽ chạy. Hãy yêu cầu lại.",
  "error.nodeRun.ticket": "Quyết định không được đưa ra ở đó, đã quá cũ hoặc dành cho lần chạy khác. Hãy yêu cầu lại.",
  "error.nodeRun.duplicate": "Lần chạy này đã được nhận ở đó; nó không bao giờ khởi động hai lần.",
  "error.nodeRun.tooLarge": "Lệnh quá dài để xem xét ở đó. Hãy đặt nó vào tệp script rồi chạy tệp đó.",
  "error.nodeRun.cancelled": "Lệnh bị hủy trước khi kịp khởi động.",
  "error.timeout.two": "timeout và timeoutSeconds khác nhau; chỉ ghi một trong hai, tính bằng giây.",
  "error.timeout": "timeout {value} không hợp lệ. Hãy ghi số giây (có thể lẻ), hoặc 0 nếu không giới hạn.",
  "error.workdir":
    'Thư mục làm việc "{folder}" không dùng được hoặc không phải thư mục. Hãy ghi một đường dẫn có thật; nó được hiểu nguyên văn, không có ~ hay $VAR. Chưa có gì được chạy.',
  "error.workdir.gone": "Thư mục làm việc {folder} không còn nữa hoặc không phải thư mục. Chưa có gì được chạy.",
  "error.env.invalid":
    "Không dùng được làm biến môi trường: {names}. Tên gồm chữ cái, chữ số và dấu gạch dưới; giá trị không có NUL và nhiều nhất 128 KiB. Chưa có gì được chạy.",
  "error.env.nul": "{name} (giá trị có ký tự NUL)",
  "error.env.long": "{name} (giá trị quá dài)",
  "error.env.forbidden":
    "Vi phạm bảo mật: {count} biến bị cấm với host={host} vì có thể đổi chương trình được chạy: {names}. Chưa có gì được chạy.{advice}",
  "error.env.path":
    " Với PATH, người vận hành có thể đặt tools.exec.pathPrepend, hoặc hãy gọi chương trình bằng đường dẫn đầy đủ.",
  "error.tool.denied":
    "exec đang tắt ở đây theo chính sách công cụ (tools.allow/tools.deny). Người vận hành có thể thay đổi.",
  "error.elevated":
    "Phiên bản này không có chế độ elevated: không lệnh gọi nào rời khỏi sandbox của nó. Người vận hành có thể cho lệnh chạy ở nơi khác bằng tools.exec.host. Chưa có gì được chạy.",
  "error.exec.securityDeny": "exec bị từ chối: host={host} security=deny, do {layer} đặt.",
  "error.exec.denied": "exec bị từ chối: {why} (do {layer} đặt).",
  "error.exec.policy": "chính sách không cho phép",
  "error.exec.control": "Không chạy: {why}.",
  "error.exec.deniedByNow": "Không chạy: exec nay đã bị từ chối, do {layer} đặt.",
  "error.approvals.many":
    "Đã có {limit} yêu cầu đang chờ người quyết định (limits.maxPendingApprovals). Không có gì được hỏi hay chạy.",
  "error.line.full":
    "{running} lệnh đang chạy và {waiting} lệnh đang chờ, nhiều nhất có thể (limits.maxQueuedRuns). Chưa có gì được chạy; hãy thử lại sau.",
  "error.line.own":
    "Đã có {own} lệnh của cuộc trò chuyện này đang chờ; các chỗ khác dành cho những cuộc trò chuyện khác (limits.maxQueuedRuns là {limit}). Chưa có gì được chạy; /stop đưa chúng ra khỏi hàng chờ.",
  "error.preflight": "kiểm tra exec: {problem}",
  "error.preflight.shebang":
    'Đây là script cho {interpreter}, nhưng lệnh được chạy bởi shell và sẽ bị hiểu là văn bản shell. Hãy lưu vào một tệp rồi chạy "{interpreter} <file>". Chưa có gì được chạy.',
  "error.preflight.shellSyntax":
    "kiểm tra exec: {place} bắt đầu bằng cú pháp shell nhưng lại được chạy như script. Chưa có gì được chạy.",
  "error.preflight.variable":
    "kiểm tra exec: {place} dùng {variable} như biến shell, mà {language} không hiểu. Hãy dùng {instead}. Chưa có gì được chạy.",

  "error.spawn.workdirNul": "Thư mục làm việc có ký tự NUL. Hãy bỏ nó đi rồi thử lại.",
  "error.spawn.commandNul": "Lệnh có ký tự NUL. Hãy bỏ nó đi rồi thử lại.",
  "error.spawn.env": "Không thể truyền biến môi trường {name} cho chương trình.",
  "error.spawn.tooBig":
    "Lệnh hoặc môi trường quá lớn với hệ thống (khoảng 128 KiB cho một từ). Hãy đặt văn bản vào một tệp rồi chạy tệp đó.",
  "error.spawn.notFound":
    "Không tìm thấy {file}, hoặc không tìm thấy trình thông dịch ghi trong đó. Chưa có gì được chạy.",
  "error.spawn.permission": "Không được chạy {file} ở đây (không có quyền). Chưa có gì được chạy.",
  "error.spawn.noRoom":
    "Hệ thống không còn chỗ cho một tiến trình nữa ({errno}). Hãy dừng bớt phiên đang chạy rồi thử lại.",
  "error.spawn.other": "Không khởi động được {file} ({problem}).",
  "note.heldOpen": "Một tiến trình do lệnh khởi động vẫn giữ đầu ra; đầu ra sau đó không được ghi lại.",
  "note.leftRunning": "Đã dừng {count} tiến trình còn chạy lại sau lệnh.",
  "note.notConfirmed": "Không xác nhận được mọi thứ do lệnh khởi động đã kết thúc.",

  "error.approval.unknown": 'Không có yêu cầu nào với ID "{id}" đang chờ. /status liệt kê các yêu cầu đang chờ.',
  "error.approval.ambiguous": '{matches} yêu cầu khớp với "{id}". Hãy dùng ID đầy đủ: {ids}.',
  "error.approval.expired": "Yêu cầu {slug} đã hết hạn; chưa có gì được chạy. Hãy yêu cầu lại.",
  "error.approval.cancelled": "Yêu cầu {slug} đã bị hủy. {why} Chưa có gì được chạy.",
  "error.approval.notNeeded": "Không còn cần nữa.",
  "error.approval.waiting": "Yêu cầu {slug} vẫn đang chờ; hãy thử lại.",
  "error.approval.allowed": "Yêu cầu {slug} đã được {who} cho phép trước đó.",
  "error.approval.denied": "Yêu cầu {slug} đã bị {who} từ chối trước đó.",
  "error.approval.noRule": "Yêu cầu {slug} không lưu quy tắc nào nên không có gì để thu hồi.",
  "error.approval.revoked": "Điều mà yêu cầu {slug} đã lưu đã được {who} thu hồi trước đó.",
  "error.approval.notOffered": 'Không thể chọn "{decision}" cho yêu cầu này. Hãy chọn: {offered}.',
  "error.approval.tooLateToSnooze": "Yêu cầu {slug} sắp hết hạn nên không hoãn được. Hãy quyết định ngay.",
  "error.approval.askedAgain": "Yêu cầu {slug} đã được {who} yêu cầu lại trước đó.",
  "error.approval.stillWaits": "Yêu cầu {slug} vẫn đang chờ trả lời nên không cần yêu cầu lại.",
  "error.approval.ranUnanswered": "Yêu cầu {slug} đã chạy dù không ai trả lời (askFallback) nên không cần yêu cầu lại.",
  "error.approval.onlyPerson": "Chỉ con người mới quyết định được yêu cầu, agent thì không bao giờ.",
  "error.approval.notYours":
    "Bạn không phải người phê duyệt ở đây nên không có gì thay đổi. /whoami cho biết bạn được làm gì.",
  "error.approval.yourOwn": "Chính bạn đã yêu cầu việc này; người khác phải quyết định (approvals.selfApproval).",
  "error.access.notHere": "Bạn không được phép dùng bot này ở đây.",
  "error.access.command": "Bạn không được dùng /{command} ở đây. /whoami cho biết bạn được làm gì.",
  "error.access.buttons": "Bạn không được dùng các nút này. /whoami cho biết bạn được làm gì.",
  "error.access.work": "Bạn không được giao việc cho tôi ở đây. /whoami cho biết bạn được làm gì.",
  "error.pairing.approved": "{who} đã được {by} cho phép trước đó.",
  "error.pairing.dismissed": "Yêu cầu của {who} đã bị {by} bỏ qua trước đó. Người này có thể xin lại.",
  "error.pairing.expired": "Yêu cầu của {who} đã hết hạn. Người này có thể xin lại bằng cách nhắn cho bot.",
  "error.pairing.gone":
    "Yêu cầu xin được cho phép này không còn được lưu. Người đó có thể xin lại bằng cách nhắn cho bot.",
  "error.exec.loosen":
    "Chỉ chủ sở hữu mới được mở những gì cấu hình đang đóng: ở đây là {before}, còn bạn yêu cầu {after}. Chưa có gì thay đổi.",
  "error.menu.notYours": "Chỉ người đã hỏi mới được chọn ở đây. Hãy tự gõ lệnh.",
  "error.menu.answered": "Đã trả lời rồi: {choice}. Muốn chọn lại, hãy gõ /{command} lần nữa.",
  "error.menu.stale": "Danh sách này không còn được lưu nên chưa có gì được thực hiện. Hãy gõ lại lệnh.",
  "error.menu.staleOf": "Danh sách này không còn đúng nên chưa có gì được thực hiện. Hãy gõ lại /{command}.",
  "error.pairing.onlyOwner":
    "Chỉ chủ của bot mới được cho phép người khác, nên không có gì thay đổi. /whoami cho biết bạn được làm gì.",
  "error.pairing.locked": "Quá nhiều mã sai. Việc duyệt bị khóa trong mười phút.",
  "error.pairing.unknown": "Không có yêu cầu ghép nối nào với mã này. Có thể mã đã hết hạn; hãy xin mã mới.",
  "error.run.unknown": "Không còn thông tin về lần chạy đó.",
  "error.run.logGone": "Không còn thông tin về lần chạy đó; nhật ký của nó đã mất.",
  "error.run.notRunning": "{session} không còn chạy.",
  "error.agent.full": "Ở đây đã có quá nhiều tin nhắn chờ agent; tin này không được nhận. /stop bỏ các tin đó.",

  "error.cron.ambiguous": '{matches} tác vụ khớp với "{job}": {ids}. Hãy ghi đầy đủ ID.',
  "error.cron.unknown": 'Không có tác vụ "{job}". /cron list cho xem danh sách.',
  "error.cron.many": "Đã có {most} tác vụ, nhiều nhất có thể. Hãy xóa bớt một tác vụ trước.",
  "error.cron.name": 'Đã có tác vụ tên "{name}". Hãy chọn tên khác.',
  "error.cron.when": "Hãy cho biết khi nào, đúng một lần: at (2031-04-05T09:00 hoặc 30m), every (15m) hoặc cron.",
  "error.cron.tooOften": "every phải ít nhất {least}s, không phải {every}.",
  "error.cron.what": "Hãy cho biết làm gì, đúng một lần: một lệnh để chạy, hoặc một sự kiện để báo cho phiên.",
  "error.cron.length": "Việc cần làm dài từ 1 đến {most} ký tự.",
  "error.cron.never": "Lịch {schedule} không bao giờ đến.",
  "error.cron.expression": 'Biểu thức cron "{cron}" không hợp lệ: {problem}',
  "error.cron.expressionIn": 'Biểu thức cron "{cron}" theo múi giờ "{timezone}" không hợp lệ: {problem}',
  "error.cron.moment":
    '"{text}" không phải một thời điểm. Hãy ghi khoảng thời gian tính từ bây giờ như 30m, hoặc ngày giờ như 2031-04-05T09:00.',
  "error.cron.passed": "{text} đã qua.",
  "error.cron.passedIn": "{text} đã qua theo {timezone}.",
  "error.cron.interval": '"{text}" không phải một khoảng thời gian. Hãy ghi như 45s, 15m, 2h hoặc 1d.',

  "error.argument.unknown": 'Tham số không rõ "{parameter}" của {tool}. Các tham số có: {known}.',
  "error.argument.near": 'Tham số không rõ "{parameter}" của {tool}. Ý bạn là "{near}"? Các tham số có: {known}.',
  "error.argument.invalid": "Giá trị không hợp lệ của {parameter} cho {tool}: {why}.",
  "issue.type": "phải là {type}",
  "issue.int": "một số nguyên",
  "issue.number": "một số",
  "issue.boolean": "true hoặc false",
  "issue.string": "văn bản",
  "issue.array": "một danh sách",
  "issue.object": "một nhóm giá trị",
  "issue.oneOf": "phải là một trong {allowed}",
  "issue.unknown": "không rõ: {keys}",
  "issue.empty": "không được để trống",
  "issue.characters.least": "cần ít nhất {limit} ký tự",
  "issue.characters.most": "nhiều nhất {limit} ký tự",
  "issue.least": "phải từ {limit} trở lên",
  "issue.more": "phải lớn hơn {limit}",
  "issue.most": "phải từ {limit} trở xuống",
  "issue.less": "phải nhỏ hơn {limit}",
  "session.arguments": "Các đối số này không dùng được: {why}.",
  "error.argument.all": "các đối số này",
  "error.argument.notAcceptable": "không chấp nhận được",
  "session.action": 'Thao tác không rõ "{action}". Các thao tác có: {known}.',
  "session.actionNear": 'Thao tác không rõ "{action}". Ý bạn là "{near}"? Các thao tác có: {known}.',
  "session.idMissing": '{action} cần có sessionId. "list" liệt kê các phiên.',
  "session.unknown": "Không tìm thấy phiên {session}.",
  "session.noneActive": "Không tìm thấy phiên đang chạy {session}.",
  "session.noneFinished": "Không tìm thấy phiên đã kết thúc {session}.",
  "session.foreground": "Phiên {session} không chạy nền: lần gọi đã khởi động nó vẫn đang chờ nó.",
  "session.ended": "Phiên {session} đã kết thúc; không ghi vào stdin được.",
  "session.noInput":
    'Không ghi vào stdin của phiên {session} được. Hãy khởi động lệnh với pty: true, hoặc với stdin: "open", để gửi đầu vào.',
  "session.inputClosed":
    "Không ghi vào stdin được: chương trình đã đóng stdin, đã kết thúc, hoặc được khởi động không có stdin mở.",
  "session.notStarted": "Phiên {session} chưa bắt đầu; không ghi vào stdin được.",
  "session.inputFull":
    "Chương trình không đọc đầu vào: đã có {bytes} byte đang chờ, nhiều nhất được {most}. Chưa ghi gì.",
  "session.noTerminal":
    "Phiên {session} không có terminal nên không có phím. Hãy dùng write, hoặc khởi động lệnh với pty: true.",
  "session.notStartedTerminal": "Phiên {session} chưa bắt đầu; chưa có terminal để đổi kích thước.",
  "session.endedTerminal": "Phiên {session} đã kết thúc; không có terminal để đổi kích thước.",
  "session.terminalGone":
    "Không có terminal để đổi kích thước: chương trình đã kết thúc, hoặc được khởi động không có terminal.",
  "session.noSize": "Phiên {session} không có terminal nên không có kích thước. Hãy khởi động lệnh với pty: true.",
  "session.sizeMissing": "resize cần cols (1 đến {cols}), rows (1 đến {rows}), hoặc cả hai.",
  "session.sizeBad": "{name} phải là số nguyên từ 1 đến {most}; {value} thì không. Kích thước không thay đổi.",
  "session.resized": "Phiên {session} nay có terminal {cols} cột và {rows} hàng.",
  "session.keyUnknown":
    'Không có phím "{key}". Các phím: Enter, Tab, Escape, Up, Down, Home, PageUp, F1 đến F12 …, một ký tự, ^c, C-c, M-x, S-Tab. Văn bản ghi trong "literal". Chưa gửi gì.',
  "session.keyNear":
    'Không có phím "{key}". Có phải bạn muốn "{near}"? Các phím: Enter, Tab, Escape, Up, Down, Home, PageUp, F1 đến F12 …, một ký tự, ^c, C-c, M-x, S-Tab. Văn bản ghi trong "literal". Chưa gửi gì.',
  "session.none": "Không có phiên nào đang chạy hay mới chạy.",
  "session.onGateway": "Trên gateway {gateway}:",
  "session.noOutput": "(không có đầu ra nào được ghi)",
  "session.noOutputYet": "(chưa có đầu ra)",
  "session.noNewOutput": "(không có đầu ra mới)",
  "session.note": "[{note}]",
  "session.dropped": "[{characters} ký tự đã bị bỏ trước lần poll này; log có thể vẫn còn.]",
  "session.outputGone": "[Đầu ra trước đó không còn trong bộ nhớ.]",
  "session.page": "[{shown} dòng cuối trong tổng số {total}; dùng offset/limit để xem tiếp]",
  "session.queued": "Đang chờ các lệnh khác kết thúc; lệnh sẽ tự bắt đầu. kill đưa nó ra khỏi hàng chờ.",
  "session.running": "Tiến trình vẫn đang chạy.",
  "session.waiting":
    "Không có đầu ra trong {seconds} giây và stdin đang mở: có lẽ tiến trình đang chờ đầu vào (write, send-keys, submit, paste).",
  "session.waitingAt":
    "Không có đầu ra trong {seconds} giây và stdin đang mở: có lẽ tiến trình đang chờ đầu vào (write, send-keys, submit, paste). Dòng cuối: {line}",
  "session.how.signal": "tín hiệu {signal}",
  "session.how.code": "mã {code}",
  "session.how.unknown": "không rõ mã thoát",
  "session.end.stopped": "Tiến trình đã dừng theo yêu cầu ({how}).",
  "session.end.timedOut":
    "Tiến trình quá thời gian và đã bị dừng ({how}). Nó có thể đã gây tác động: hãy kiểm tra trước khi chạy lại.",
  "session.end.shutdown": "Tiến trình đã dừng vì gateway đang dừng ({how}).",
  "session.end.notStarted": "Không khởi động được tiến trình.",
  "session.end.lost": "Không rõ tiến trình kết thúc thế nào: đã mất máy chạy nó.",
  "session.end.exited": "Tiến trình kết thúc với {how}.",
  "session.killedInLine": "Đã đưa ra khỏi hàng chờ: phiên {session} chưa hề chạy.",
  "session.killed": "Đã yêu cầu kết thúc phiên {session}. Dùng poll để xem nó kết thúc.",
  "session.cleared": "Đã dọn phiên {session}.",
  "session.removed": "Đã xóa phiên {session}.",
  "session.removedRunning": "Đã xóa phiên {session} (đã yêu cầu kết thúc).",
  "session.sent.wrote": "Đã ghi {bytes} byte vào phiên {session}.{waiting}",
  "session.sent.wroteAndEnded": "Đã ghi {bytes} byte vào phiên {session} và đóng stdin.{waiting}",
  "session.sent.keys": "Đã gửi {bytes} byte đến phiên {session}.{waiting}",
  "session.sent.submitted": "Đã gửi Enter đến phiên {session}.{waiting}",
  "session.sent.pasted": "Đã dán {characters} ký tự vào phiên {session}.{waiting}",
  "session.sent.pastedBracketed": "Đã dán {characters} ký tự (bracketed) vào phiên {session}.{waiting}",
  "session.sent.waiting": " {bytes} byte đang chờ chương trình đọc.",
});
