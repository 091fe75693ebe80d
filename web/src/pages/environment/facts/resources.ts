/** Resources as a list of headings and rows, for a list that shows only what is in sight. Pure. */
import type { Resource } from '#contract/deployments/plan.ts';

export type ResourceLine =
  | { readonly kind: 'module'; readonly name: string; readonly count: number }
  | { readonly kind: 'type'; readonly name: string; readonly count: number; readonly provider: string }
  | { readonly kind: 'resource'; readonly resource: Resource };

const order = new Intl.Collator('en', { numeric: true });

function grouped(all: readonly Resource[], key: 'moduleName' | 'type'): [string, Resource[]][] {
  return [...Map.groupBy(all, (resource) => resource[key])].toSorted(([one], [other]) =>
    order.compare(one, other),
  );
}

/** Those that have a text in address, type or provider. */
export function findResources(all: readonly Resource[], find: string): readonly Resource[] {
  const words = find.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return all;
  return all.filter(({ provider, type, name, moduleName }) => {
    const text = `${moduleName} ${type}.${name} ${provider}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** By module and type, in the order of their names. The root module has no heading where it is the only one. */
export function linesOf(all: readonly Resource[]): ResourceLine[] {
  const modules = grouped(all, 'moduleName');
  const hasModules = modules.length > 1 || (modules[0]?.[0] ?? '') !== '';
  return modules.flatMap(([module, own]): ResourceLine[] => [
    ...(hasModules ? [{ kind: 'module', name: module, count: own.length } as const] : []),
    ...grouped(own, 'type').flatMap(([type, same]): ResourceLine[] => [
      { kind: 'type', name: type, count: same.length, provider: same[0]?.provider ?? '' },
      ...same
        .toSorted((one, other) => order.compare(one.name, other.name))
        .map((resource) => ({ kind: 'resource', resource }) as const),
    ]),
  ]);
}
