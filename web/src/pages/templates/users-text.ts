/** Why something that is in use is not deleted, with the names of its users. */

/**
 * @param names of the first ones
 * @param total of all
 * @param remedy what to do with them first, as a verb
 * @returns undefined: there are none
 */
export function usersText(
  names: readonly string[],
  total: number,
  remedy = 'Switch or delete',
): string | undefined {
  if (total === 0) return undefined;
  const others = total - names.length;
  const named = others > 0 ? `${names.join(', ')} and ${others} more` : names.join(', ');
  return `Used by ${named}. ${remedy} ${total === 1 ? 'it' : 'them'} first.`;
}
