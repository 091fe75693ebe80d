/** User ids for runs that hardly any other test file's agents use. */

/** As many as an agent takes by default, and as many again, the first of which is the database's. */
const idsPerPlace = 2_000;
const places = 10;
/** So that claims of removed folders, which stay on the machine until the id is needed, do not grow without end. */
const processes = 500;
const lowest = 2_000_000;

/**
 * First of the user ids that the agents of this process share: they rarely depend on what other files, or
 * an interrupted test, have left on the machine.
 * @param place 0 to 9, for agents that must not share
 */
export function slotUidBase(place = 0): string {
  return String(lowest + ((process.pid % processes) * places + place) * idsPerPlace);
}
