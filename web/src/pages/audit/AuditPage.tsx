/** The audit trail: who did what, with filters in the address. */
import { Button } from '@mantine/core';
import { useState } from 'react';
import { baseUrl } from '../../api/client.ts';
import { usePage } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { OpenLink, useOpenRow } from '../../records/Detail.tsx';
import { NextPages } from '../../records/NextPages.tsx';
import { nameOfUser } from '../../records/person.tsx';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { callOf } from '../../ui/calls.ts';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { Page } from '../../ui/Page.tsx';
import { useSearchState } from '../../ui/search.ts';
import { TimeAgo } from '../../ui/Time.tsx';
import { AuditEntry } from './AuditEntry.tsx';
import { AuditFilters } from './AuditFilters.tsx';
import { filtersOf, type ListedAuditEvent, wordsOf } from './audit-query.ts';
import { Verification } from './Verification.tsx';

const columns: readonly Column<ListedAuditEvent>[] = [
  { id: 'at', head: 'When', cell: ({ timestamp }) => <TimeAgo at={timestamp} /> },
  { id: 'who', head: 'Who', cell: ({ actor, actorId }) => <bdi>{nameOfUser(actor) || actorId}</bdi> },
  { id: 'what', head: 'What', cell: ({ id, actionName }) => <OpenLink id={id}>{actionName}</OpenLink> },
  {
    id: 'entity',
    head: 'Target',
    isMinor: true,
    cell: ({ entity, entityId }) => (
      <>
        {entity} <code>{entityId}</code>
      </>
    ),
  },
  { id: 'address', head: 'From', isMinor: true, cell: ({ ipAddress }) => <code>{ipAddress}</code> },
];

function Entries({ organizationId }: { readonly organizationId: string }) {
  const [search] = useSearchState();
  const { open, openId, close } = useOpenRow();
  const filters = filtersOf(search);
  const page = usePage('listAuditEvents', {
    query: { organizationId, ...filters, ...(search.after === undefined ? {} : { offset: search.after }) },
  });
  const opened = page.data?.rows.events.find(({ id }) => id === openId);
  return (
    <>
      <Loaded query={page} lines={10}>
        {({ rows: { events, nextPageKey } }) => (
          <>
            {events.length === 0 ? (
              <EmptyState title="No matching entries">
                Remove a filter, or choose another time. Entries appear a few seconds after a change.
              </EmptyState>
            ) : (
              <DataTable
                label="Audit trail"
                columns={columns}
                rows={events}
                idOf={({ id }) => id}
                onOpen={({ id }) => open(id)}
              />
            )}
            <NextPages nextPageKey={nextPageKey} />
          </>
        )}
      </Loaded>
      {opened && <AuditEntry entry={opened} onClose={close} />}
    </>
  );
}

/** Address from which a browser downloads the entries of the chosen time, as JSON lines. */
function exportUrl(organizationId: string, { from, to }: { from?: string; to?: string }): string {
  const query = new URLSearchParams({ organizationId, ...(from ? { from } : {}), ...(to ? { to } : {}) });
  return `${baseUrl}api/audit/export?${query}`;
}

export function AuditPage() {
  const { organizationId } = useSession();
  const rights = useRights({ organizationId });
  const whyNot = rights.whyNot('VIEW_AUDIT_LOGS');
  const [search] = useSearchState();
  const [isVerifying, setVerifying] = useState(false);
  const filters = filtersOf(search);
  const query = { organizationId };
  return (
    <Page
      title="Audit trail"
      lead="Every change, by whom, from where and with which key, chained by hashes so that no one can alter it unnoticed."
      calls={[
        callOf('List entries', 'listAuditEvents', { query: { ...query, ...filters } }, [
          'audit',
          'list',
          ...wordsOf(filters),
        ]),
        callOf('Export', 'exportAuditEvents', { query }, ['audit', 'export', '--output', 'trail.jsonl']),
        callOf('Verify', 'verifyAudit', { query }, ['audit', 'verify']),
      ]}
      actions={
        <>
          <ActionButton size="xs" variant="default" whyNot={whyNot} onClick={() => setVerifying(true)}>
            Verify the chain
          </ActionButton>
          {whyNot === undefined && (
            <Button
              size="xs"
              variant="default"
              component="a"
              href={exportUrl(organizationId, filters)}
              download="audit-trail.jsonl"
            >
              Export as JSON lines
            </Button>
          )}
        </>
      }
    >
      {rights.isKnown && whyNot !== undefined && (
        <EmptyState title="You cannot see the audit trail">{whyNot}</EmptyState>
      )}
      {whyNot === undefined && (
        <>
          <AuditFilters />
          <Entries organizationId={organizationId} />
        </>
      )}
      {isVerifying && <Verification organizationId={organizationId} onClose={() => setVerifying(false)} />}
    </Page>
  );
}
