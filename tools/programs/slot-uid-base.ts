/** User ids for runs that no other test file's agents use. */

/** As many as an agent takes by default, and as many again, the first of which is the database's. */
const idsPerPlace = 2_000;
const places = 10;
const lowest = 2_000_000;

/**
 * Where the user ids begin that the agents of this process share: none of them depends on what other files, or an
 * interrupted test, have left on the machine.
 * @param place 0 to 9, for agents that must not share
 */
export function slotUidBase(place = 0): string {
  return String(lowest + ((process.pid % 50_000) * places + place) * idsPerPlace);
}
