/** User ids for runs that no other test file's agents use. */

const [lowest, highestPlace, count] = [2_000_000, 10, 1_000];

/**
 * Where the user ids begin that the agents of this process share: none of them depends on what other files, or an
 * interrupted test, have left on the machine.
 * @param place 0 to 9, for agents that must not share
 */
export function slotUidBase(place = 0): string {
  return String(lowest + ((process.pid % 100_000) * highestPlace + place) * count);
}
