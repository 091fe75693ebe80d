/** A page that lists things, which open next to the list, and creates more of them. */
import type { UseQueryResult } from '@tanstack/react-query';
import { Fragment, type ReactNode, useState } from 'react';
import { ActionButton } from '../ui/ActionButton.tsx';
import { type Column, DataTable } from '../ui/DataTable.tsx';
import { EmptyState } from '../ui/EmptyState.tsx';
import { Loaded } from '../ui/Loaded.tsx';
import { Page, type PageProps } from '../ui/Page.tsx';
import { useOpenRow } from './Detail.tsx';

export interface RecordsTableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly idOf: (row: Row) => string;
  /** Shown if there are no rows. */
  readonly empty: ReactNode;
}

export function RecordsTable<Row>({ empty, ...table }: RecordsTableProps<Row>) {
  const { open } = useOpenRow();
  if (table.rows.length === 0) return empty;
  return <DataTable {...table} onOpen={(row) => open(table.idOf(row))} />;
}

export interface RecordsPageProps<Data, Row>
  extends Pick<PageProps, 'title' | 'lead'>,
    Pick<RecordsTableProps<Row>, 'columns' | 'idOf'> {
  readonly query: UseQueryResult<Data>;
  readonly rowsOf: (data: Data) => readonly Row[];
  /** The calls that list them and that create one. */
  readonly calls: readonly [list: PageProps['calls'][number], create: PageProps['calls'][number]];
  /** On the button that opens the dialog. */
  readonly verb: string;
  readonly whyNot: string | undefined;
  /** Placeholder of the page without records. */
  readonly empty: readonly [title: string, text: ReactNode];
  readonly dialog: (onClose: () => void) => ReactNode;
  readonly detail: (id: string, onClose: () => void) => ReactNode;
}

export function RecordsPage<Data, Row>(props: RecordsPageProps<Data, Row>) {
  const { title, lead, query, calls, columns, idOf, whyNot } = props;
  const [isCreating, setCreating] = useState(false);
  const { openId, close } = useOpenRow();
  const button = (
    <ActionButton size="xs" whyNot={whyNot} onClick={() => setCreating(true)}>
      {props.verb}
    </ActionButton>
  );
  const empty = (
    <EmptyState title={props.empty[0]} call={calls[1]} action={button}>
      {props.empty[1]}
    </EmptyState>
  );
  return (
    <Page title={title} lead={lead} calls={calls} actions={button}>
      <Loaded query={query}>
        {(data) => (
          <RecordsTable label={title} columns={columns} rows={props.rowsOf(data)} idOf={idOf} empty={empty} />
        )}
      </Loaded>
      {openId !== undefined && <Fragment key={openId}>{props.detail(openId, close)}</Fragment>}
      {isCreating && props.dialog(() => setCreating(false))}
    </Page>
  );
}
