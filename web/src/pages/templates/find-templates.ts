/** Search and order of the list of templates, which the service answers as a whole. */
import type { Template } from '#contract/templates/shapes.ts';

const keys = ['name', 'type', 'updatedAt'] as const;
export type Order = (typeof keys)[number] | `-${(typeof keys)[number]}`;

/** @param text part of the name, the description or the repository @param type empty: any */
export function templatesMatching(templates: readonly Template[], text: string, type: string): Template[] {
  const part = text.trim().toLowerCase();
  return templates.filter(
    ({ name, description = '', repository, type: own }) =>
      (type === '' || own === type) &&
      [name, description, repository].some((each) => each.toLowerCase().includes(part)),
  );
}

const byText = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

/** Anything else than a known order is by name. */
export function sortTemplates(templates: readonly Template[], order: Order): Template[] {
  const wanted = order.replace(/^-/, '');
  const key = keys.find((each) => each === wanted) ?? 'name';
  const sorted = templates.toSorted((one, other) => byText.compare(one[key] ?? '', other[key] ?? ''));
  return order.startsWith('-') ? sorted.toReversed() : sorted;
}
