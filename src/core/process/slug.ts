/** Names for sessions that people can say and type: `amber-otter`. Lower case, `[a-z0-9-]`, at most 64 characters. */

const ADJECTIVES =
  "amber bold brave brisk calm clear clever coral cosy crisp dapper deft eager early fair fleet fond fresh gentle glad golden grand green happy hardy humble jolly keen kind lively lucid lucky mellow merry mild neat nimble noble plucky polite prime proud quick quiet rapid ready rosy sharp shiny silver sleek smart snug solid spry steady sunny swift tidy vivid warm wise witty young zesty".split(
    " ",
  );
const NOUNS =
  "acorn anchor aspen badger beacon birch brook canyon cedar cliff cloud comet condor coral crane creek dune eagle ember falcon fern finch fjord forest fox gale garnet glade grove harbor hazel heron ibis iris island ivy jasper kestrel lagoon lark laurel ledge lemon lily linden lotus lynx maple marsh meadow mesa mint moose nectar oak oasis ocean olive orbit orchid osprey otter owl panda pebble pine plover pond poplar prairie quail quartz raven reef ridge river robin saddle sage seal shore sparrow spruce star stone stork summit swan thicket tide trail tulip valley walnut willow wren zephyr".split(
    " ",
  );

/** Tries `-2` … `-12` behind a taken name before it takes a longer one. */
const MAX_NUMBER = 12;

/** `random` gives 0 ≤ x < 1. The result is not among the ids for which `taken` says true. */
export function newSlug(taken: (id: string) => boolean, random: () => number): string {
  const pick = (words: readonly string[]): string => words[Math.floor(random() * words.length)] as string;
  const pair = `${pick(ADJECTIVES)}-${pick(NOUNS)}`;
  if (!taken(pair)) return pair;
  for (let number = 2; number <= MAX_NUMBER; number++) {
    if (!taken(`${pair}-${number}`)) return `${pair}-${number}`;
  }
  const triple = `${pick(ADJECTIVES)}-${pair}`;
  if (!taken(triple)) return triple;
  for (let number = Math.floor(random() * 36 ** 6); ; number++) {
    const suffixed = `${triple}-${number.toString(36)}`;
    if (!taken(suffixed)) return suffixed;
  }
}
