/** The filters of the audit trail, as the address has them and as the service takes them. */
import type { Reply } from '../../api/queries.ts';
import type { Search } from '../../ui/search.ts';

export type ListedAuditEvent = Reply<'listAuditEvents'>['events'][number];

export const filterNames = ['actorId', 'action', 'entity', 'entityId', 'projectId', 'from', 'to'] as const;
export type FilterName = (typeof filterNames)[number];
export type Filters = Readonly<Partial<Record<FilterName, string>>>;

const isTime = (text: string) => !Number.isNaN(Date.parse(text));

/** The filters that an address names; a time that cannot be read counts as absent. */
export function filtersOf(search: Search): Filters {
  const pairs = filterNames.flatMap((name) => {
    const text = search[name];
    if (text === undefined || text === '') return [];
    return (name === 'from' || name === 'to') && !isTime(text) ? [] : [[name, text]];
  });
  return Object.fromEntries(pairs) as Filters;
}

/** For a field of type `datetime-local`, which has the reader's zone. @param iso as the address has it */
export function localTimeOf(iso: string | undefined): string {
  if (iso === undefined || !isTime(iso)) return '';
  const time = new Date(iso);
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The other way round; undefined: the field is empty. */
export function isoOf(local: string): string | undefined {
  return isTime(local) ? new Date(local).toISOString() : undefined;
}

/** The options of `envarium audit list`. */
export function wordsOf(filters: Filters): readonly string[] {
  const options = {
    actorId: '--actor',
    action: '--action',
    entity: '--entity',
    entityId: '--entity-id',
    projectId: '--project',
    from: '--from',
    to: '--to',
  } as const;
  return filterNames.flatMap((name) => {
    const text = filters[name];
    return text === undefined ? [] : [options[name], text];
  });
}
