import { describe, expect, it } from "vitest";
import { PatchSyntaxError, parsePatch } from "../../../../src/core/exec/apply-patch/patch.ts";

const wrap = (body: string) => `*** Begin Patch\n${body}\n*** End Patch`;

describe("reading a patch", () => {
  it("knows add, delete, update, move, context, end of file", () => {
    const text = wrap(
      "*** Add File: a/b.txt\n+one\n+\n*** Delete File: old.txt\n*** Update File: c.ts\n*** Move to: d.ts\n@@ class X\n keep\n-old\n+new\n\n@@\n+end\n*** End of File",
    );
    expect(parsePatch(text)).toEqual([
      { kind: "add", path: "a/b.txt", lines: ["one", ""] },
      { kind: "delete", path: "old.txt" },
      {
        kind: "update",
        path: "c.ts",
        moveTo: "d.ts",
        chunks: [
          {
            context: "class X",
            atEnd: false,
            lines: [
              { kind: "context", text: "keep" },
              { kind: "remove", text: "old" },
              { kind: "add", text: "new" },
              { kind: "context", text: "" },
            ],
          },
          { context: undefined, atEnd: true, lines: [{ kind: "add", text: "end" }] },
        ],
      },
    ]);
  });

  it.each(["<<EOF", "<<'EOF'", '<<"EOF"'])("unwraps a here-document %s, CRLF, and indented headers", (opening) => {
    const text = `${opening}\r\n  *** Begin Patch  \r\n*** Add File: a.txt \r\n+x\r\n*** End Patch\r\nEOF`;
    expect(parsePatch(text)).toEqual([{ kind: "add", path: "a.txt", lines: ["x"] }]);
  });

  it("the first change of an update needs no @@ line", () => {
    const [operation] = parsePatch(wrap("*** Update File: a\n-x\n+y"));
    expect(operation).toMatchObject({ kind: "update", chunks: [{ context: undefined }] });
  });

  it("a patch without operations is an empty list", () => {
    expect(parsePatch("*** Begin Patch\n*** End Patch")).toEqual([]);
  });

  it.each([
    ["no begin", "*** Add File: a\n+x\n*** End Patch", /first line/],
    ["no end", "*** Begin Patch\n*** Add File: a\n+x", /last line/],
    ["an unknown header", wrap("*** Rename File: a"), /Line 2: .*Rename.*Add File.*Delete File.*Update File/],
    ["a blank line for a header", wrap("*** Add File: a\n+x\n\n*** Delete File: b"), /Line 4/],
    ["an update without changes", wrap("*** Update File: a"), /update of a is empty/],
    ["a pure move", wrap("*** Update File: a\n*** Move to: b"), /empty/],
    ["a second change without @@", wrap("*** Update File: a\n@@\n-x\n+y\nstray"), /must start with "@@"/],
    ["a body line without a mark", wrap("*** Update File: a\n@@\nplain"), /starts with a space/],
    ["a file without a name", wrap("*** Add File: "), /no name|not a header/],
  ])("refuses %s with the line it is in", (_, text, message) => {
    expect(() => parsePatch(text)).toThrow(PatchSyntaxError);
    expect(() => parsePatch(text)).toThrow(message);
  });
});
