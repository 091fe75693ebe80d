/** All approval policies with the latest verdict of each, and the catalogue of those that come with the service. */
import { Link, useNavigate } from '@tanstack/react-router';
import { catalogueRepository } from '#contract/approval-policies/catalogue-repository.ts';
import type { ApprovalPolicyEntry } from '#contract/custom-flows/shapes.ts';
import { useRead } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { Status, verdictLooks } from '../../design/status.tsx';
import records from '../../records/records.module.css';
import { UrlTabs } from '../../records/UrlTabs.tsx';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { callOf } from '../../ui/calls.ts';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { Page } from '../../ui/Page.tsx';
import { TimeAgo } from '../../ui/Time.tsx';
import { Catalogue } from './Catalogue.tsx';
import { EngineNotice } from './EngineNotice.tsx';
import { placeOfPolicy, placesText } from './policy-words.ts';

/** Last verdict of a policy. */
function LastVerdict({ id }: { readonly id: string }) {
  const { data } = useRead('listPolicyVerdicts', { params: { id }, query: { limit: 1 } });
  const [last] = data ?? [];
  if (data === undefined) return null;
  if (last === undefined) return <span className={records.faint}>None yet</span>;
  return (
    <>
      <Link to="/deployments/$deploymentId" params={{ deploymentId: last.deploymentId }}>
        <Status look={verdictLooks[last.decision]} />
      </Link>
      <div className={records.faint}>
        <bdi>{last.environmentName}</bdi>, <TimeAgo at={last.at} />
      </div>
    </>
  );
}

const columns: Column<ApprovalPolicyEntry>[] = [
  {
    id: 'name',
    head: 'Name',
    cell: ({ policy: { id, name } }) => (
      <Link to="/approval-policies/$policyId" params={{ policyId: id }} className={records.name!}>
        <bdi>{name}</bdi>
      </Link>
    ),
  },
  {
    id: 'places',
    head: 'Assigned to',
    cell: (entry) => <bdi>{placesText(entry) || 'nothing'}</bdi>,
  },
  { id: 'last', head: 'Last verdict', cell: ({ policy }) => <LastVerdict id={policy.id} /> },
  {
    id: 'code',
    head: 'Code',
    isMinor: true,
    cell: ({ policy }) => <code className={records.code}>{placeOfPolicy(policy)}</code>,
  },
];

function Policies() {
  const { organizationId } = useSession();
  const navigate = useNavigate();
  const policies = useRead('listApprovalPolicies', { query: { organizationId } });
  return (
    <Loaded query={policies}>
      {(all) =>
        all.length === 0 ? (
          <EmptyState
            title="No approval policies yet"
            action={
              <Link to="/approval-policies" search={{ tab: 'catalogue' }}>
                Choose one from the catalogue
              </Link>
            }
            call={callOf(
              'Create an approval policy',
              'createApprovalPolicy',
              {
                body: {
                  ...{ organizationId, name: 'No public buckets' },
                  ...{ repository: catalogueRepository, path: 'deny-public-s3-buckets' },
                },
              },
              ['approval-policies', 'create', 'No public buckets', '--catalogue', 'deny-public-s3-buckets'],
            )}
          >
            An approval policy reads the plan of a deployment and decides: apply it, refuse it, or let people
            decide.
          </EmptyState>
        ) : (
          <DataTable
            label="Approval policies"
            columns={columns}
            rows={all}
            idOf={({ policy }) => policy.id}
            onOpen={({ policy }) =>
              void navigate({ to: '/approval-policies/$policyId', params: { policyId: policy.id } })
            }
          />
        )
      }
    </Loaded>
  );
}

export function ApprovalPoliciesPage() {
  const { organizationId } = useSession();
  const navigate = useNavigate();
  const rights = useRights({ organizationId });
  const whyNot = rights.isKnown ? rights.whyNot('CREATE_AND_EDIT_TEMPLATES') : undefined;
  return (
    <Page
      title="Approval policies"
      lead="Rules in Rego that read each plan and decide whether it is applied, refused, or left to people."
      actions={
        <ActionButton
          size="xs"
          whyNot={whyNot}
          onClick={() => void navigate({ to: '/approval-policies/new' })}
        >
          New policy
        </ActionButton>
      }
      calls={[
        callOf('List approval policies', 'listApprovalPolicies', { query: { organizationId } }, [
          ...['approval-policies', 'list'],
        ]),
        callOf('List the catalogue', 'listCataloguePolicies', undefined, ['approval-policies', 'catalogue']),
      ]}
    >
      <EngineNotice />
      <UrlTabs
        isStep
        tabs={[
          { value: 'policies', label: 'Policies', content: () => <Policies /> },
          { value: 'catalogue', label: 'Catalogue', content: () => <Catalogue whyNot={whyNot} /> },
        ]}
      />
    </Page>
  );
}
