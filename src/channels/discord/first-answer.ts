/** What Discord gets within three seconds of an interaction, before anything else is done. Pure. */
import { ComponentType, InteractionResponseType, MessageFlags, TextInputStyle } from "discord.js";
import type { Messages } from "../../core/words/messages.ts";
import { encodeAction } from "../cards/action-codec.ts";
import { moreComponents } from "./cards.ts";
import type { FirstAnswer } from "./inbound.ts";
import { MAX_MODAL_TITLE, MAX_REASON } from "./limits.ts";
import type { Placeholder } from "./open-interactions.ts";

export function placeholderOf(answer: FirstAnswer): Placeholder {
  if (answer.kind !== "think") return "none";
  return answer.privately ? "private" : "public";
}

export function firstAnswerBody(answer: FirstAnswer, messages: Messages): object {
  switch (answer.kind) {
    case "think":
      return {
        type: InteractionResponseType.DeferredChannelMessageWithSource,
        ...(answer.privately ? { data: { flags: MessageFlags.Ephemeral } } : {}),
      };
    case "keep-card":
      return { type: InteractionResponseType.DeferredMessageUpdate };
    case "outdated":
      return {
        type: InteractionResponseType.ChannelMessageWithSource,
        data: {
          flags: MessageFlags.Ephemeral | MessageFlags.IsComponentsV2,
          components: [{ type: ComponentType.TextDisplay, content: messages.notice.buttonOutdated }],
          allowed_mentions: { parse: [] },
        },
      };
    case "more":
      return {
        type: InteractionResponseType.ChannelMessageWithSource,
        data: {
          flags: MessageFlags.Ephemeral | MessageFlags.IsComponentsV2,
          components: moreComponents(answer.request, messages),
          allowed_mentions: { parse: [] },
        },
      };
    case "ask-reason":
      // A form can only be the first answer: nothing may be deferred before it.
      return {
        type: InteractionResponseType.Modal,
        data: {
          custom_id: encodeAction(answer.request),
          title: messages.approval.reasonTitle.slice(0, MAX_MODAL_TITLE),
          components: [
            {
              type: ComponentType.Label,
              label: messages.approval.reasonLabel.slice(0, MAX_MODAL_TITLE),
              component: {
                type: ComponentType.TextInput,
                custom_id: "reason",
                style: TextInputStyle.Paragraph,
                required: false,
                max_length: MAX_REASON,
              },
            },
          ],
        },
      };
  }
}
