import type { sandbox as english } from "../en/sandbox.ts";
import { translation } from "../template.ts";

export const sandbox = translation<typeof english>()({
  "error.sandbox": "Phiên này chạy trong sandbox, nhưng không tạo được sandbox: {why} Chưa có gì được chạy.",
  "error.sandbox.workdir":
    'Thư mục làm việc "{folder}" không phải thư mục mà sandbox của phiên này thấy ({seen}). Chưa có gì được chạy.',
  "error.sandbox.variables":
    "{count} biến môi trường là quá nhiều cho một sandbox. Hãy để chúng trong một tệp. Chưa có gì được chạy.",
  "error.sandbox.tool": "Công cụ này bị tắt trong các phiên có sandbox ({key}). Người vận hành có thể đổi.",

  "sandbox.why.platform": "backend bwrap cần Linux.",
  "sandbox.why.missing": "chưa cài bubblewrap; hãy cài gói bubblewrap.",
  "sandbox.why.bash": "chưa cài bash; nó khởi động sandbox.",
  "sandbox.why.old": "{bwrap} quá cũ; cần bubblewrap 0.5 trở lên.",
  "sandbox.why.backend": "phiên bản này không có backend {backend}; hãy đặt {key} thành bwrap.",
  "sandbox.why.key": "backend bwrap không có {key}; hãy bỏ khóa đó.",
  "sandbox.why.network": 'backend bwrap không có mạng; hãy đặt {key} thành "none".',
  "sandbox.why.value": '{key} không thể là "{value}".',
  "sandbox.why.bind": '"{bind}" trong {key}: {problem}',
  "sandbox.why.limit": "không áp đặt được {key} trên máy này: {why} Hãy bỏ khóa đó, hoặc cho phép.",
  "sandbox.why.link": "{path} không phải một thư mục riêng; hãy xóa nó.",
  "sandbox.why.workspace":
    "thư mục làm việc {path} chứa tệp hệ thống, khóa hoặc trạng thái của gateway này; hãy chọn thư mục khác, hoặc workspaceAccess none.",
  "sandbox.why.silent": "bubblewrap không trả lời trong {seconds} giây.",
  "sandbox.why.said": "{line} (thông báo của bwrap).",
  "sandbox.why.userns": "{line}. Hệ thống cấm thứ nó cần; xem {setting}.",

  "sandbox.limit.none": "không có control group cho {controller}.",
  "sandbox.limit.closed": "không ghi được control group cho {controller} ({code}).",
  "sandbox.limit.program": "chưa cài {program} (gói util-linux).",

  "sandbox.bind.syntax": "hãy viết theo dạng nguồn:đích:ro hoặc nguồn:đích:rw.",
  "sandbox.bind.source-relative": "nguồn phải là đường dẫn tuyệt đối, không có . và .. trong đó.",
  "sandbox.bind.source-missing": "nguồn không tồn tại.",
  "sandbox.bind.source-kind": "nguồn không phải thư mục cũng không phải tệp.",
  "sandbox.bind.source-blocked": "nguồn dẫn đến tệp hệ thống, khóa, hoặc trạng thái của gateway này.",
  "sandbox.bind.source-external":
    "nguồn nằm ngoài các thư mục làm việc; docker.dangerouslyAllowExternalBindSources cho phép điều đó.",
  "sandbox.bind.source-swappable":
    "nguồn nằm trong thư mục làm việc mà lệnh trong sandbox ghi được, nên có thể bị thay bằng liên kết.",
  "sandbox.bind.target-relative": "đích phải là đường dẫn tuyệt đối, không có . và .. trong đó.",
  "sandbox.bind.target-system": "đích là một phần của hệ thống trong sandbox.",
  "sandbox.bind.target-reserved":
    "đích che một thư mục làm việc; docker.dangerouslyAllowReservedContainerTargets cho phép điều đó.",
  "sandbox.bind.target-twice": "đã có thứ khác được gắn ở đó.",
});
