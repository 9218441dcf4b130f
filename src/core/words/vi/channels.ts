import type { channels as english } from "../en/channels.ts";
import { translation } from "../template.ts";

export const channels = translation<typeof english>()({
  "channel.noBotToken": "chưa có token của bot ({key} hoặc {variable})",
  "channel.noAppToken": "chưa có token của ứng dụng ({key} hoặc {variable})",
  "channel.noSigningSecret": "chưa có signing secret ({key} hoặc {variable})",
  "channel.noWebhookSecret": "webhookUrl cần có {key}",
  "channel.standsBy": "đang chờ sẵn: một gateway khác đang kết nối bằng tài khoản này",
  "channel.unreachable": "Không kết nối được tới {platform} ({why}); đang thử lại.",
  "channel.nextAttempt": "{why}; thử lại sau {seconds} giây",
  "channel.discord.token":
    "Discord từ chối token của bot. Hãy đặt channels.discord.token bằng token trong cổng nhà phát triển.",
  "channel.discord.noToken":
    "Tài khoản Discord chưa có token của bot. Hãy đặt channels.discord.token hoặc DISCORD_BOT_TOKEN.",
  "channel.discord.application":
    "Token này thuộc ứng dụng {actual}, còn channels.discord.applicationId là {configured}.",
  "channel.discord.intents":
    "Discord từ chối các intent. Hãy bật “Message Content Intent” trong cổng nhà phát triển, hoặc đặt channels.discord.intents.messageContent thành false (chỉ dùng lệnh gạch chéo).",
  "channel.discord.resuming": "Mất kết nối với Discord; đang nối lại phiên.",
  "channel.discord.deaf": "Kết nối Discord không còn chuyển gì nữa; đang kết nối lại.",
  "channel.lostOften": "Kết nối với {platform} liên tục bị mất; lần thử tiếp theo sau {seconds} giây",
  "channel.discord.ended": "Discord đã kết thúc phiên; đang kết nối lại.",
  "channel.discord.endedWith": "Discord đã kết thúc phiên ({code}); đang kết nối lại.",
  "channel.telegram.token":
    "Telegram từ chối token của bot ({why}). Hãy đặt channels.telegram.botToken bằng token mà BotFather hiển thị.",
  "channel.telegram.noToken":
    "Tài khoản Telegram chưa có token của bot. Hãy đặt channels.telegram.botToken hoặc TELEGRAM_BOT_TOKEN.",
  "channel.telegram.port":
    "Cổng của webhook đang bị dùng ({why}). Hãy đặt channels.telegram.webhookPort thành một cổng còn trống.",
  "channel.telegram.polling": "Lấy tin từ Telegram không thành công ({why}); đang thử lại.",
  "channel.telegram.secret":
    "Mã bí mật của webhook Telegram phải gồm 1 đến 256 ký tự A-Z, a-z, 0-9, _ và -. Hãy đặt channels.telegram.webhookSecret.",
  "channel.slack.account": "@{bot} trong {team}",
  "channel.slack.missingScopes": "@{bot} trong {team}; thiếu các scope: {scopes}",
  "channel.slack.listening": "{account}; đang nghe tại {path}",
  "channel.slack.listeningOn": "{account}; đang nghe ở cổng {port}, {path}",
  "channel.slack.lostOften": "kết nối liên tục bị mất",
  "channel.slack.closed": "kết nối đã bị đóng",
  "channel.slack.socketModeOff": "Socket Mode đang tắt với ứng dụng này; hãy bật trong phần cài đặt của ứng dụng",
  "channel.slack.tooMany":
    "ứng dụng có nhiều kết nối hơn mức Slack cho phép; hãy dừng các tiến trình khác dùng token ứng dụng này",
  "channel.slack.answered": "Slack trả lời {code}",
  "channel.slack.missing_scope":
    "ứng dụng thiếu một scope; hãy so với `openclaw-exec channels slack-manifest` rồi cài lại ({code})",
  "channel.slack.invalid_auth": "token không hợp lệ; hãy kiểm tra channels.slack ({code})",
  "channel.slack.token_revoked": "token đã bị thu hồi; hãy cài lại ứng dụng ({code})",
  "channel.slack.account_inactive": "tài khoản của ứng dụng đã bị tắt; hãy cài lại ứng dụng ({code})",
  "channel.slack.not_allowed_token_type":
    "token sai loại: botToken bắt đầu bằng xoxb-, appToken bắt đầu bằng xapp- ({code})",
});
