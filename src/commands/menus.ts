/**
 * What a command still needs, offered as choices. A button carries the menu's id and the place of its choice; what the
 * choice completes the command to stands here, so that no button carries a command, none runs for anybody but who asked,
 * and each menu is answered once, however often and wherever it is pressed.
 */
import { createHash } from "node:crypto";
import { MAX_MENU_CHOICES, type MenuCard, type MenuChoice } from "../core/cards.ts";
import { ExecError } from "../core/errors.ts";
import type { Deliveries } from "../core/events/deliveries.ts";
import type { Actor, Route } from "../core/route.ts";
import type { Store } from "../core/store/store.ts";
import { phrase, type Wording } from "../core/words/phrase.ts";

/** A menu older than this is no longer what the person asked for. */
export const MENU_TTL_MS = 24 * 3_600_000;
const NS = "menu";
const CHOSEN_NS = "menu-chosen";
const OPEN_VERSION = 1;
const CHOSEN_VERSION = 2;

export interface Menu extends Pick<MenuCard<Wording>, "text" | "fields" | "command" | "form"> {
  readonly title: Wording;
  /** Best first; more than a hundred are cut, and the card says what to type instead. */
  readonly choices: readonly Choice[];
}

export interface Choice extends Pick<MenuChoice<Wording>, "label" | "detail" | "needs"> {
  /** Default `plain`. */
  readonly style?: MenuChoice["style"];
  /** What the command is given once this was chosen, as if it had been typed. */
  readonly args: string;
}

export interface StoredMenu {
  readonly id: string;
  /** Name of the command that asked. */
  readonly command: string;
  readonly asker: Pick<Actor, "channel" | "accountId" | "id">;
  readonly route: Route;
  readonly onlyFor?: Actor;
  /** In the order of the card's choices. */
  readonly args: readonly string[];
  readonly card: MenuCard<Wording>;
}

export interface Menus {
  /** Offering again for the same event makes no second menu. */
  offer(
    menu: Menu,
    about: {
      readonly command: string;
      readonly eventId: string;
      readonly actor: Actor;
      readonly route: Route;
      readonly onlyFor?: Actor;
    },
  ): Promise<void>;
  /** `undefined`: never was, or is too old. */
  find(id: string): Promise<StoredMenu | undefined>;
  /**
   * What the chosen command is given; from now on the menu is answered, and says so. The same event may ask again.
   * Throws `not-authorized` for anybody but who asked, `not-found` for a choice there is not, `invalid-argument` when it was
   * answered before.
   */
  choose(menu: StoredMenu, choice: number, by: { readonly actor: Actor; readonly eventId: string }): Promise<string>;
}

export function createMenus({
  store,
  deliveries,
}: {
  readonly store: Store;
  readonly deliveries: Pick<Deliveries, "upsert">;
}): Menus {
  function show(menu: StoredMenu, version: number, card: MenuCard<Wording>): Promise<void> {
    return deliveries.upsert({
      entity: `menu:${menu.id}`,
      version,
      route: menu.route,
      card,
      ...(menu.onlyFor ? { onlyFor: menu.onlyFor } : {}),
    });
  }

  return {
    async offer(menu, { command, eventId, actor, route, onlyFor }) {
      const choices = menu.choices.slice(0, MAX_MENU_CHOICES);
      const id = menuId(eventId);
      const { title, text, fields, command: decided, form } = menu;
      const card: MenuCard<Wording> = {
        kind: "menu",
        menuId: id,
        title,
        ...(text === undefined ? {} : { text }),
        ...(fields === undefined ? {} : { fields }),
        ...(decided === undefined ? {} : { command: decided }),
        choices: choices.map(({ args: _, style = "plain", ...choice }) => ({ ...choice, style })),
        form,
      };
      const asker = { channel: actor.channel, accountId: actor.accountId, id: actor.id };
      const args = choices.map((choice) => choice.args);
      const stored: StoredMenu = { id, command, asker, route, args, card, ...(onlyFor ? { onlyFor } : {}) };
      await store.setIfAbsent(NS, id, stored, { ttlMs: MENU_TTL_MS });
      await show(stored, OPEN_VERSION, card);
    },

    find: async (id) => (await store.get<StoredMenu>(NS, id))?.value,

    async choose(menu, choice, { actor, eventId }) {
      const { asker } = menu;
      const isAsker = asker.channel === actor.channel && asker.accountId === actor.accountId && asker.id === actor.id;
      if (!isAsker) throw new ExecError("not-authorized", phrase("error.menu.notYours"));
      const [args, chosen] = [menu.args[choice], menu.card.choices[choice]?.label];
      if (args === undefined || chosen === undefined) throw staleMenu(menu.command);
      const isFirst = await store.setIfAbsent(CHOSEN_NS, menu.id, { eventId, choice }, { ttlMs: MENU_TTL_MS });
      if (!isFirst) {
        const before = (await store.get<{ eventId: string; choice: number }>(CHOSEN_NS, menu.id))?.value;
        if (before?.eventId !== eventId) {
          const label = menu.card.choices[before?.choice ?? choice]?.label ?? chosen;
          throw new ExecError(
            "invalid-argument",
            phrase("error.menu.answered", { choice: label, command: menu.command }),
          );
        }
      }
      const { fields: _fields, command: _command, ...rest } = menu.card;
      await show(menu, CHOSEN_VERSION, { ...rest, choices: [], chosen });
      return args;
    },
  };
}

/** For a press on a menu that is not kept any more. */
export function staleMenu(command?: string): ExecError {
  return new ExecError(
    "not-found",
    command === undefined ? phrase("error.menu.stale") : phrase("error.menu.staleOf", { command }),
  );
}

/** Made from the event that asked, in the form of a UUID, which is what a button packs. */
function menuId(eventId: string): string {
  const hex = createHash("sha256").update(`menu\0${eventId}`).digest("hex").slice(0, 32);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
