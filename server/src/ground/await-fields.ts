/** Awaits promises together that have names, so that no one counts the positions of a list. */

/** @returns each field with what its promise resolves to; values that are not promises stay as they are */
export async function awaitFields<Fields extends Record<string, unknown>>(
  fields: Fields,
): Promise<{ [Name in keyof Fields]: Awaited<Fields[Name]> }> {
  const entries = Object.entries(fields).map(async ([name, value]) => [name, await value] as const);
  return Object.fromEntries(await Promise.all(entries)) as { [Name in keyof Fields]: Awaited<Fields[Name]> };
}
