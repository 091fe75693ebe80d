/** Rights of the person at a place, with reasons: they enable buttons. */
import { useQuery } from '@tanstack/react-query';
import type { Right } from '#contract/schema/rights.ts';
import { read } from './queries.ts';

/** Exactly one place. */
export type RightPlace =
  | { readonly organizationId: string }
  | { readonly projectId: string }
  | { readonly environmentId: string };

export interface Rights {
  /** Whether it is known yet, or cannot be read; until then nothing is allowed. */
  readonly isKnown: boolean;
  has(right: Right): boolean;
  /** Why not, as a sentence for the person; undefined: the person has the right. */
  whyNot(right: Right): string | undefined;
}

const kinds = { organizationId: 'organization', projectId: 'project', environmentId: 'environment' } as const;

/** The rights of the person who is signed in. @param place undefined: not known yet */
export function useRights(place: RightPlace | undefined): Rights {
  const { data, isError } = useQuery({
    ...read('explainPermissions', { query: place ?? {} }),
    enabled: place !== undefined,
    staleTime: 60_000,
  });
  const has = (right: Right) => data?.rights.some((each) => each.right === right) ?? false;
  const kind = kinds[Object.keys(place ?? { projectId: '' })[0] as keyof typeof kinds];
  return {
    isKnown: data !== undefined || isError,
    has,
    whyNot: (right) => {
      if (has(right)) return undefined;
      if (isError && data === undefined) return 'Your rights could not be read. Reload the page.';
      if (data === undefined) return 'Loading your rights.';
      return `You need the right ${right} in this ${kind}. People who manage its roles can give it to you.`;
    },
  };
}
