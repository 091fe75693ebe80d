/** Attribute names of SCIM are written in any case: here they get the one that the service uses. */

const names =
  `schemas userName externalId name formatted givenName familyName displayName emails value type primary
  display active members Operations op path`.split(/\s+/);
const byLowerCase = new Map(names.map((name) => [name.toLowerCase(), name]));

/** The name of an attribute as the service writes it; undefined for one that it does not keep. */
export function canonicalName(name: string): string | undefined {
  return byLowerCase.get(name.toLowerCase());
}

/** Values as sent, without what the service does not keep. */
export function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  const known = Object.entries(value).flatMap(([name, inner]) => {
    const own = canonicalName(name);
    return own === undefined ? [] : [[own, canonical(inner)] as const];
  });
  return Object.fromEntries(known);
}
