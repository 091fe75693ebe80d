/** One approval policy: its verdicts, where it is assigned, and where its code is. */
import { Tabs } from '@mantine/core';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { ApprovalPolicyEntry } from '#contract/custom-flows/shapes.ts';
import { showDone } from '../../api/messages.ts';
import { useChange, useRead } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { Confirm } from '../../ui/Confirm.tsx';
import { callOf } from '../../ui/calls.ts';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Facts } from '../../ui/Facts.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { Page } from '../../ui/Page.tsx';
import { useSearchState } from '../../ui/search.ts';
import { TimeAgo } from '../../ui/Time.tsx';
import { EditPolicy } from './EditPolicy.tsx';
import { PolicyPlaces } from './PolicyPlaces.tsx';
import { PolicyVerdicts } from './PolicyVerdicts.tsx';
import { placeOfPolicy } from './policy-words.ts';
import { TestPolicy } from './TestPolicy.tsx';

interface OfEntry {
  readonly entry: ApprovalPolicyEntry;
}

const crumbs = [{ label: 'Approval policies', to: '/approval-policies' }];

function Settings({ entry: { policy, assignments } }: OfEntry) {
  const { policyConfiguration: configuration } = policy;
  const hash = assignments.find((each) => each.hash !== undefined)?.hash;
  return (
    <Facts
      facts={[
        ['Code', <code key="code">{placeOfPolicy(policy)}</code>],
        ['Configuration', configuration && <code key="json">{JSON.stringify(configuration)}</code>],
        ['Last evaluated as', hash && <code key="hash">{hash}</code>],
        ['Created', <TimeAgo key="created" at={policy.createdAt} />],
        ['By', policy.author.name || policy.author.email],
        ['Changed', <TimeAgo key="changed" at={policy.updatedAt} />],
        ['Id', <code key="id">{policy.id}</code>],
      ]}
    />
  );
}

function Delete({
  entry: { policy, assignments },
  whyNot,
}: OfEntry & { readonly whyNot: string | undefined }) {
  const [isOpen, setIsOpen] = useState(false);
  const navigate = useNavigate();
  const remove = useChange('deleteApprovalPolicy', {
    refreshes: ['listApprovalPolicies'],
    onSuccess: () => {
      showDone(`${policy.name} was deleted`);
      void navigate({ to: '/approval-policies' });
    },
  });
  const places = assignments.length === 1 ? 'One place is' : `${assignments.length} places are`;
  return (
    <>
      <ActionButton
        size="xs"
        variant="default"
        color="red"
        whyNot={whyNot}
        loading={remove.isPending}
        onClick={() => setIsOpen(true)}
      >
        Delete
      </ActionButton>
      <Confirm
        isOpen={isOpen}
        title={`Delete the approval policy ${policy.name}?`}
        verb="Delete"
        isBusy={remove.isPending}
        onConfirm={() => {
          setIsOpen(false);
          remove.mutate({ params: { id: policy.id } });
        }}
        onClose={() => setIsOpen(false)}
      >
        {assignments.length === 0
          ? 'It is not assigned anywhere.'
          : `${places} no longer checked by it: deployments there may be applied without it.`}
      </Confirm>
    </>
  );
}

function PolicyTabs({ entry }: OfEntry) {
  const [{ tab = 'verdicts' }, change] = useSearchState();
  return (
    <Tabs
      value={tab}
      onChange={(next) => change({ tab: next === 'verdicts' || next === null ? undefined : next }, true)}
      keepMounted={false}
    >
      <Tabs.List mb="md">
        <Tabs.Tab value="verdicts">Verdicts</Tabs.Tab>
        <Tabs.Tab value="places">Assigned to ({entry.assignments.length})</Tabs.Tab>
        <Tabs.Tab value="settings">Settings</Tabs.Tab>
        <Tabs.Tab value="test">Test</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="verdicts">
        <PolicyVerdicts policy={entry.policy} />
      </Tabs.Panel>
      <Tabs.Panel value="places">
        <PolicyPlaces entry={entry} />
      </Tabs.Panel>
      <Tabs.Panel value="settings">
        <Settings entry={entry} />
      </Tabs.Panel>
      <Tabs.Panel value="test">
        <TestPolicy policy={entry.policy} />
      </Tabs.Panel>
    </Tabs>
  );
}

function Shown({ entry }: OfEntry) {
  const { policy } = entry;
  const { organizationId } = useSession();
  const [{ edit }, change] = useSearchState();
  const rights = useRights({ organizationId });
  const whyNot = rights.whyNot('CREATE_AND_EDIT_TEMPLATES');
  const { id } = policy;
  return (
    <Page
      title={policy.name}
      crumbs={crumbs}
      actions={
        edit === undefined && (
          <>
            <ActionButton
              size="xs"
              variant="default"
              whyNot={whyNot}
              onClick={() => change({ edit: '' }, true)}
            >
              Edit
            </ActionButton>
            <Delete entry={entry} whyNot={whyNot} />
          </>
        )
      }
      calls={[
        callOf('Show this policy', 'getTemplate', { params: { id } }, ['approval-policies', 'show', id]),
        callOf('List its verdicts', 'listPolicyVerdicts', { params: { id } }, [
          ...['approval-policies', 'verdicts', id],
        ]),
        callOf(
          'Test it against a deployment',
          'testApprovalPolicy',
          { body: { policyId: id, deploymentId: '{deploymentId}' } },
          ['policy', 'test', id, '--deployment', '<deployment>'],
        ),
      ]}
    >
      {edit === undefined ? (
        <PolicyTabs entry={entry} />
      ) : (
        <EditPolicy policyId={id} whyNot={whyNot} onDone={() => change({ edit: undefined })} />
      )}
    </Page>
  );
}

export function ApprovalPolicyPage() {
  const { policyId = '' } = useParams({ strict: false });
  const { organizationId } = useSession();
  const policies = useRead('listApprovalPolicies', { query: { organizationId } });
  const entry = policies.data?.find(({ policy }) => policy.id === policyId);
  if (entry) return <Shown key={policyId} entry={entry} />;
  return (
    <Page title="Approval policy" crumbs={crumbs} calls={[]}>
      <Loaded query={policies}>
        {() => (
          <EmptyState title="There is no such approval policy">
            It was deleted, or it belongs to another organization.
          </EmptyState>
        )}
      </Loaded>
    </Page>
  );
}
