/** Line icons on a 16 grid. Decoration only: what they mean is always said in words beside them. */
import type { ComponentChildren } from "preact";

function Icon({ children }: { readonly children: ComponentChildren }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      {children}
    </svg>
  );
}

export const CheckIcon = () => (
  <Icon>
    <path d="M3.5 8.5 6.5 11.5 12.5 4.5" />
  </Icon>
);
export const CrossIcon = () => (
  <Icon>
    <path d="M4.5 4.5 11.5 11.5M11.5 4.5 4.5 11.5" />
  </Icon>
);
export const ClockIcon = () => (
  <Icon>
    <circle cx="8" cy="8" r="5.75" />
    <path d="M8 4.75V8l2.25 1.5" />
  </Icon>
);
export const QuestionIcon = () => (
  <Icon>
    <path d="M8 1.75 13.25 3.75V7.75C13.25 10.75 11.1 13.2 8 14.25 4.9 13.2 2.75 10.75 2.75 7.75V3.75Z" />
    <path d="M8 5v3.25M8 10.6v.15" />
  </Icon>
);
export const WarningIcon = () => (
  <Icon>
    <path d="M8 2.25 14.25 13.25H1.75Z" />
    <path d="M8 6.5v3M8 11.25v.15" />
  </Icon>
);
export const InfoIcon = () => (
  <Icon>
    <circle cx="8" cy="8" r="5.75" />
    <path d="M8 7.25v3.5M8 5.1v.15" />
  </Icon>
);
export const ListIcon = () => (
  <Icon>
    <path d="M6 4h7.5M6 8h7.5M6 12h7.5M2.75 4h.5M2.75 8h.5M2.75 12h.5" />
  </Icon>
);
export const StopIcon = () => (
  <Icon>
    <rect x="4.25" y="4.25" width="7.5" height="7.5" rx="1.25" class="filled" />
  </Icon>
);
export const RepeatIcon = () => (
  <Icon>
    <path d="M13 8a5 5 0 1 1-1.5-3.55" />
    <path d="M13.25 2.5v2.75H10.5" />
  </Icon>
);
export const PlayIcon = () => (
  <Icon>
    <path d="M5 3.25 12.5 8 5 12.75Z" class="filled" />
  </Icon>
);
export const PauseIcon = () => (
  <Icon>
    <path d="M4.25 3.25h2.5v9.5h-2.5ZM9.25 3.25h2.5v9.5h-2.5Z" class="filled" />
  </Icon>
);
export const RecordingsIcon = () => (
  <Icon>
    <rect x="1.75" y="3" width="12.5" height="10" rx="1.5" />
    <path d="M6.75 5.75 10 8 6.75 10.25Z" class="filled" />
  </Icon>
);
export const LogIcon = () => (
  <Icon>
    <path d="M3 4h10M3 7h10M3 10h6.5M3 13h4" />
  </Icon>
);
export const CopyIcon = () => (
  <Icon>
    <rect x="5.75" y="5.75" width="7.5" height="7.5" rx="1.5" />
    <path d="M10.25 3.5A1.5 1.5 0 0 0 8.75 2.25H4.25a2 2 0 0 0-2 2v4.5a1.5 1.5 0 0 0 1.25 1.5" />
  </Icon>
);
export const DownloadIcon = () => (
  <Icon>
    <path d="M8 2.5v7.25M5 7 8 10l3-3M3 13.25h10" />
  </Icon>
);
export const SendIcon = () => (
  <Icon>
    <path d="M8 13V3.25M3.75 7.5 8 3.25l4.25 4.25" />
  </Icon>
);
export const DownIcon = () => (
  <Icon>
    <path d="M8 3v9.75M3.75 8.5 8 12.75l4.25-4.25" />
  </Icon>
);
export const SunIcon = () => (
  <Icon>
    <circle cx="8" cy="8" r="2.75" />
    <path d="M8 1.5v1.25M8 13.25v1.25M1.5 8h1.25M13.25 8h1.25M3.4 3.4l.9.9M11.7 11.7l.9.9M12.6 3.4l-.9.9M4.3 11.7l-.9.9" />
  </Icon>
);
export const MoonIcon = () => (
  <Icon>
    <path d="M13.25 9.5A5.5 5.5 0 0 1 6.5 2.75a5.5 5.5 0 1 0 6.75 6.75Z" />
  </Icon>
);
export const DeviceIcon = () => (
  <Icon>
    <circle cx="8" cy="8" r="5.75" />
    <path d="M8 2.25a5.75 5.75 0 0 1 0 11.5Z" class="filled" />
  </Icon>
);
export const KeyboardIcon = () => (
  <Icon>
    <rect x="1.75" y="4" width="12.5" height="8" rx="1.5" />
    <path d="M4.25 6.75h.1M6.75 6.75h.1M9.25 6.75h.1M11.75 6.75h.1M5.25 9.5h5.5" />
  </Icon>
);
