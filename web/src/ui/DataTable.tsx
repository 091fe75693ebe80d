/**
 * A table of rows that people walk with `j` and `k`, select with `x` and open with Enter. Order and pages come
 * from the service: the table only shows which order it has.
 */
import {
  type ColumnDef,
  type RowSelectionState,
  rowSelectionFeature,
  tableFeatures,
  useTable,
} from '@tanstack/react-table';
import { memo, type ReactNode, useCallback, useEffect, useRef } from 'react';
import classes from './DataTable.module.css';
import { useRowKeys } from './page-keys.ts';

export interface Column<Row> {
  readonly id: string;
  readonly head: string;
  readonly cell: (row: Row) => ReactNode;
  /** The key by which the service can order the list; absent: it cannot. */
  readonly sort?: string;
  readonly isNumber?: boolean;
  /** Left out on narrow screens. */
  readonly isMinor?: boolean;
}

export interface DataTableProps<Row> {
  /** Label of the rows, for people who cannot see them. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly idOf: (row: Row) => string;
  /** Opens a row, by Enter or `o`; its first cell is then expected to be a link to the same place. */
  readonly onOpen?: (row: Row) => void;
  /** `name`, or `-name` descending. */
  readonly sort?: string | undefined;
  readonly onSort?: (sort: string) => void;
  /** Ids of the selected rows; absent: rows cannot be selected. */
  readonly selected?: ReadonlySet<string>;
  readonly onSelect?: (ids: ReadonlySet<string>) => void;
  /** The name of a row, for its checkbox. */
  readonly nameOf?: (row: Row) => string;
}

const features = tableFeatures({ rowSelectionFeature });

/** `-` toggles the direction. */
function nextSort(key: string, sort: string | undefined): string {
  return sort === key ? `-${key}` : key;
}

function ariaSort(key: string | undefined, sort: string | undefined) {
  if (key === undefined || sort?.replace(/^-/, '') !== key) return undefined;
  return sort.startsWith('-') ? 'descending' : 'ascending';
}

function Head<Row>({
  column,
  sort,
  onSort,
}: { column: Column<Row> } & Pick<DataTableProps<Row>, 'sort' | 'onSort'>) {
  const key = onSort === undefined ? undefined : column.sort;
  return (
    <th
      scope="col"
      data-number={column.isNumber || undefined}
      data-minor={column.isMinor || undefined}
      aria-sort={ariaSort(key, sort)}
    >
      {key === undefined ? (
        column.head
      ) : (
        <button type="button" onClick={() => onSort?.(nextSort(key, sort))}>
          {column.head}
        </button>
      )}
    </th>
  );
}

function selectionOf(ids: ReadonlySet<string> | undefined): RowSelectionState {
  return Object.fromEntries([...(ids ?? [])].map((id) => [id, true as const]));
}

/** The rows with what is selected, which the caller keeps. */
function useRows<Row>({ columns, rows, idOf, selected, onSelect }: DataTableProps<Row>) {
  return useTable({
    features,
    columns: columns.map(({ id }) => ({ id })) as ColumnDef<typeof features, Row & object>[],
    data: rows as readonly (Row & object)[],
    getRowId: idOf,
    state: { rowSelection: selectionOf(selected) },
    onRowSelectionChange: (updater) => {
      const before = selectionOf(selected);
      const after = typeof updater === 'function' ? updater(before) : updater;
      onSelect?.(new Set(Object.keys(after).filter((id) => after[id])));
    },
  });
}

interface CellsProps<Row> {
  readonly row: Row;
  readonly columns: readonly Column<Row>[];
}

/** Of a row that has not changed they are not made again: a hundred of them would take as long as the reading. */
const Cells = memo(function Cells<Row>({ row, columns }: CellsProps<Row>) {
  return columns.map(({ id, isNumber, isMinor, cell }) => (
    <td key={id} data-number={isNumber || undefined} data-minor={isMinor || undefined}>
      {cell(row)}
    </td>
  ));
}) as <Row>(props: CellsProps<Row>) => ReactNode;

interface CheckProps {
  readonly label: string;
  readonly isChecked: boolean;
  readonly isPartly?: boolean;
  readonly onToggle: () => void;
}

/** The browser's own: those of the component library take a quarter of the time of a table of a hundred rows. */
function Check({ label, isChecked, isPartly = false, onToggle }: CheckProps) {
  const setPartly = (input: HTMLInputElement | null) => {
    if (input) input.indeterminate = isPartly;
  };
  return <input ref={setPartly} type="checkbox" aria-label={label} checked={isChecked} onChange={onToggle} />;
}

interface CheckCellProps {
  readonly id: string;
  readonly name: string;
  readonly isSelected: boolean;
  readonly onToggle: (id: string) => void;
}

const CheckCell = memo(function CheckCell({ id, name, isSelected, onToggle }: CheckCellProps) {
  return (
    <td className={classes.check}>
      <Check label={`Select ${name}`} isChecked={isSelected} onToggle={() => onToggle(id)} />
    </td>
  );
});

export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, rows, idOf, onOpen, onSelect, nameOf = idOf } = props;
  const table = useRows(props);
  const shown = table.getRowModel().rows;
  const current = useRef(table);
  useEffect(() => void (current.current = table));
  const toggle = useCallback((id: string) => current.current.getRow(id).toggleSelected(), []);
  const keys = useRowKeys({
    count: shown.length,
    open: (at) => onOpen?.(shown[at]!.original),
    toggle: onSelect ? (at) => shown[at]!.toggleSelected() : undefined,
  });
  return (
    <div className={classes.scroll} role="region" aria-label={label} tabIndex={0}>
      <table className={classes.table} aria-rowcount={rows.length}>
        <thead>
          <tr>
            {onSelect && (
              <th scope="col" className={classes.check}>
                <Check
                  label="Select all on this page"
                  isChecked={table.getIsAllRowsSelected()}
                  isPartly={table.getIsSomeRowsSelected() && !table.getIsAllRowsSelected()}
                  onToggle={() => table.toggleAllRowsSelected()}
                />
              </th>
            )}
            {columns.map((column) => (
              <Head key={column.id} column={column} sort={props.sort} onSort={props.onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row, at) => (
            <tr key={row.id} {...keys.rowProps(at)} aria-selected={onSelect && row.getIsSelected()}>
              {onSelect && (
                <CheckCell
                  id={row.id}
                  name={nameOf(row.original)}
                  isSelected={row.getIsSelected()}
                  onToggle={toggle}
                />
              )}
              <Cells row={row.original} columns={columns} />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
