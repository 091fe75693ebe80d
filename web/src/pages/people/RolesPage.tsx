/** Roles: what is built in, and those of the organization. */
import { Group, Stack } from '@mantine/core';
import { useState } from 'react';
import { builtInRoles, type RoleScope } from '#contract/schema/built-in-roles.ts';
import type { Right } from '#contract/schema/rights.ts';
import { showDone } from '../../api/messages.ts';
import { type Tagged, useRead, useTagged } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { Detail, OpenLink, useOpenRow } from '../../records/Detail.tsx';
import { FormDialog } from '../../records/FormDialog.tsx';
import { Part } from '../../records/Part.tsx';
import { Removal } from '../../records/Removal.tsx';
import type { CustomRole } from '../../records/roles.ts';
import { StaleAlert } from '../../records/StaleAlert.tsx';
import { useChangeForm } from '../../records/use-change-form.ts';
import { settle, useEdited } from '../../records/use-edited.ts';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { callOf } from '../../ui/calls.ts';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { Page } from '../../ui/Page.tsx';
import { RightsList } from './RightsList.tsx';
import { RoleFields, useRoleForm } from './RoleForm.tsx';

interface BuiltIn {
  readonly id: string;
  readonly name: string;
  readonly scope: RoleScope;
  readonly rights: readonly Right[];
}

const places: Readonly<Record<RoleScope, string>> = {
  organization: 'Organization',
  project: 'Project',
  environment: 'Environment',
};

const builtIn: readonly BuiltIn[] = Object.entries(builtInRoles).flatMap(([scope, roles]) =>
  Object.entries(roles).map(([name, rights]) => ({
    id: `${scope}.${name}`,
    name,
    scope: scope as RoleScope,
    rights,
  })),
);

const builtInColumns: readonly Column<BuiltIn>[] = [
  { id: 'name', head: 'Name', cell: ({ id, name }) => <OpenLink id={id}>{name}</OpenLink> },
  { id: 'place', head: 'Assigned in', cell: ({ scope }) => places[scope] },
  { id: 'rights', head: 'Rights', isNumber: true, cell: ({ rights }) => rights.length },
];

const customColumns: readonly Column<CustomRole>[] = [
  { id: 'name', head: 'Name', cell: ({ id, name }) => <OpenLink id={id}>{name}</OpenLink> },
  { id: 'default', head: 'Default', cell: ({ isDefaultRole }) => (isDefaultRole ? 'Yes' : 'No') },
  { id: 'rights', head: 'Rights', isNumber: true, cell: ({ permissions }) => permissions.length },
];

const concerned = ['listRoles', 'getRole', 'explainPermissions'] as const;

interface NewRoleProps {
  readonly organizationId: string;
  /** What the new role begins with. */
  readonly rights: readonly Right[];
  readonly onClose: () => void;
}

function NewRole({ organizationId, rights, onClose }: NewRoleProps) {
  const { open } = useOpenRow();
  const form = useRoleForm({ name: '', permissions: [...rights], isDefaultRole: false });
  const { change, problem } = useChangeForm('createRole', {
    form,
    refreshes: concerned,
    onSuccess: ({ id }) => {
      showDone('The role was created');
      onClose();
      open(id);
    },
  });
  return (
    <FormDialog
      title="New role"
      lead="It can be assigned in the organization, in projects and in environments. You need all of its rights yourself."
      verb="Create role"
      isBusy={change.isPending}
      problem={problem}
      onClose={onClose}
      onSubmit={form.onSubmit((values) => change.mutate({ body: { organizationId, ...values } }))}
    >
      <RoleFields form={form} />
    </FormDialog>
  );
}

interface EditRoleProps {
  readonly found: Tagged<CustomRole>;
  readonly whyNot: string | undefined;
  readonly onClose: () => void;
}

const valuesOf = ({ name, permissions, isDefaultRole }: CustomRole) => ({ name, permissions, isDefaultRole });

function EditRole({ found, whyNot, onClose }: EditRoleProps) {
  const { id, name } = found.data;
  const form = useRoleForm(valuesOf(found.data));
  const edited = useEdited(found, form, valuesOf);
  const { change, problem } = useChangeForm('updateRole', {
    form,
    refreshes: concerned,
    onSuccess: (_reply, _input, sent) => {
      settle(form, sent);
      showDone('The role was changed for everybody who has it');
    },
  });
  return (
    <>
      <form
        noValidate
        onSubmit={form.onSubmit((body) => change.mutate({ params: { id }, body, ifMatch: edited.version() }))}
      >
        <StaleAlert error={problem} onShow={edited.showLatest} />
        <Stack gap="md">
          <RoleFields form={form} />
          <Group>
            <ActionButton
              type="submit"
              loading={change.isPending}
              whyNot={whyNot ?? (form.isDirty() ? undefined : 'Nothing was changed.')}
            >
              Save for everybody who has it
            </ActionButton>
          </Group>
        </Stack>
      </form>
      <div>
        <Removal
          operation="deleteRole"
          input={{ params: { id } }}
          refreshes={concerned}
          label="Delete role"
          question={`Delete ${name}?`}
          done="The role was deleted"
          whyNot={whyNot}
          onDone={onClose}
        >
          <p>A role that is assigned cannot be deleted: the service lists who has it, and where.</p>
        </Removal>
      </div>
    </>
  );
}

function RoleDetail({
  id,
  whyNot,
  onClose,
}: {
  id: string;
  whyNot: string | undefined;
  onClose: () => void;
}) {
  const fixed = builtIn.find((each) => each.id === id);
  const found = useTagged('getRole', { params: { id } }, { enabled: fixed === undefined });
  if (fixed)
    return (
      <Detail title={`${fixed.name} (${places[fixed.scope]})`} onClose={onClose}>
        <p>Built in: it cannot be changed. Make a custom role for other rights.</p>
        <RightsList rights={fixed.rights} />
      </Detail>
    );
  return (
    <Detail title={found.data?.data.name ?? 'Role'} onClose={onClose}>
      <Loaded query={found}>{(role) => <EditRole found={role} whyNot={whyNot} onClose={onClose} />}</Loaded>
    </Detail>
  );
}

function CustomRoles({ organizationId, action }: { organizationId: string; action: React.ReactNode }) {
  const { open } = useOpenRow();
  const roles = useRead('listRoles', { query: { organizationId } });
  const call = callOf(
    'Create a role',
    'createRole',
    { body: { organizationId, name: 'Releaser', permissions: ['RUN_PLAN', 'RUN_APPLY'] } },
    ['role', 'create', 'Releaser', '--right', 'RUN_PLAN', '--right', 'RUN_APPLY'],
  );
  return (
    <Loaded query={roles} lines={3}>
      {(rows) =>
        rows.length === 0 ? (
          <EmptyState title="No custom role yet" call={call} action={action}>
            The built-in roles are enough for most. A custom one is a list of rights with a name.
          </EmptyState>
        ) : (
          <DataTable
            label="Custom roles"
            columns={customColumns}
            rows={rows}
            idOf={({ id }) => id}
            onOpen={({ id }) => open(id)}
          />
        )
      }
    </Loaded>
  );
}

export function RolesPage() {
  const { organizationId } = useSession();
  const rights = useRights({ organizationId });
  const [isCreating, setCreating] = useState(false);
  const { openId, close } = useOpenRow();
  const whyNot = rights.whyNot('CREATE_CUSTOM_ROLES');
  const button = (
    <ActionButton size="xs" whyNot={whyNot} onClick={() => setCreating(true)}>
      New role
    </ActionButton>
  );
  return (
    <Page
      title="Roles"
      lead="A role is a set of rights with a name. It holds where it is assigned and below; several roles add up."
      calls={[callOf('List custom roles', 'listRoles', { query: { organizationId } }, ['role', 'list'])]}
      actions={button}
    >
      <Part title="Of this organization">
        <CustomRoles organizationId={organizationId} action={button} />
      </Part>
      <Part title="Built in" lead="They are the same in every organization.">
        <DataTable label="Built-in roles" columns={builtInColumns} rows={builtIn} idOf={({ id }) => id} />
      </Part>
      {openId !== undefined && <RoleDetail key={openId} id={openId} whyNot={whyNot} onClose={close} />}
      {isCreating && (
        <NewRole
          organizationId={organizationId}
          rights={['VIEW_ORGANIZATION', 'VIEW_PROJECT', 'VIEW_ENVIRONMENT']}
          onClose={() => setCreating(false)}
        />
      )}
    </Page>
  );
}
