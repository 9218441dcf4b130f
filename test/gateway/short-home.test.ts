import { expect, it } from "vitest";
import { withShortHome } from "../../src/gateway/short-home.ts";
import { approvalCard, runCard } from "../channels/sample-cards.ts";

it.each([
  ["/home/dana", "/home/dana", "~"],
  ["/home/dana/shop/api", "/home/dana", "~/shop/api"],
  ["/home/dana2/shop", "/home/dana", "/home/dana2/shop"],
  ["/srv/shop", "/home/dana", "/srv/shop"],
  ["/srv/shop", "/", "/srv/shop"],
])("a card shows %s of somebody at home in %s as %s", (cwd, home, shown) => {
  expect(withShortHome(approvalCard({ cwd }), home)).toMatchObject({ cwd: shown });
  expect(withShortHome(runCard({ cwd }), home)).toMatchObject({ cwd: shown });
});

it("only what runs on this machine is at home here", () => {
  expect(withShortHome(runCard({ cwd: "/home/dana/x", host: "node" }), "/home/dana")).toMatchObject({
    cwd: "/home/dana/x",
  });
});
