/** One thing of a list next to it: facts, settings, and its deletion. */
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { OperationName } from '#contract/operations.ts';
import type { Tagged } from '../api/queries.ts';
import { Loaded } from '../ui/Loaded.tsx';
import { Detail } from './Detail.tsx';
import { Part } from './Part.tsx';
import { Removal, type RemovalProps } from './Removal.tsx';

export interface RecordDetailProps<Data extends { readonly name: string }, Name extends OperationName> {
  readonly query: UseQueryResult<Tagged<Data>>;
  /** Kind of record, such as `token`: the title until it is read, and in the texts of its deletion. */
  readonly noun: string;
  /** Facts and parts before the settings. */
  readonly facts: (record: Tagged<Data>) => ReactNode;
  readonly settings: (record: Tagged<Data>) => ReactNode;
  readonly removal: Pick<RemovalProps<Name>, 'operation' | 'input' | 'refreshes'>;
  /** Consequence of its deletion. */
  readonly meaning: string;
  readonly whyNot: string | undefined;
  readonly onClose: () => void;
}

export function RecordDetail<Data extends { readonly name: string }, Name extends OperationName>({
  query,
  noun,
  facts,
  settings,
  removal,
  meaning,
  whyNot,
  onClose,
}: RecordDetailProps<Data, Name>) {
  const title = query.data?.data.name ?? `${noun.charAt(0).toUpperCase()}${noun.slice(1)}`;
  return (
    <Detail title={title} onClose={onClose}>
      <Loaded query={query}>
        {(record) => (
          <>
            {facts(record)}
            <Part title="Settings">{settings(record)}</Part>
            <div>
              <Removal
                {...removal}
                label={`Delete ${noun}`}
                question={`Delete ${record.data.name}?`}
                done={`The ${noun} was deleted`}
                whyNot={whyNot}
                onDone={onClose}
              >
                <p>{meaning}</p>
              </Removal>
            </div>
          </>
        )}
      </Loaded>
    </Detail>
  );
}
