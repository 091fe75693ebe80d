/** Roles: what is built in, and those of the organization. */
import { useState } from 'react';
import { builtInRoles, type RoleScope } from '#contract/schema/built-in-roles.ts';
import type { Right } from '#contract/schema/rights.ts';
import { type Tagged, useRead, useTagged } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { validateName } from '../../forms/validate-name.ts';
import { Detail, OpenLink, useOpenRow } from '../../records/Detail.tsx';
import { NewRecord } from '../../records/NewRecord.tsx';
import { Part } from '../../records/Part.tsx';
import { RecordForm } from '../../records/RecordForm.tsx';
import { RecordsTable } from '../../records/RecordsPage.tsx';
import { Removal } from '../../records/Removal.tsx';
import type { CustomRole } from '../../records/roles.ts';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { callOf } from '../../ui/calls.ts';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { Page } from '../../ui/Page.tsx';
import { RightsList } from './RightsList.tsx';
import { RoleFields, type RoleValues } from './RoleForm.tsx';

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
  /** Initial rights of the new role. */
  readonly rights: readonly Right[];
  readonly onClose: () => void;
}

function NewRole({ organizationId, rights, onClose }: NewRoleProps) {
  return (
    <NewRecord
      title="New role"
      lead="It can be assigned in the organization, in projects and in environments. You need all of its rights yourself."
      verb="Create role"
      done="The role was created"
      operation="createRole"
      refreshes={concerned}
      initialValues={{ name: '', permissions: [...rights], isDefaultRole: false } as RoleValues}
      validate={{ name: validateName }}
      inputOf={(values) => ({ body: { organizationId, ...values } })}
      idOf={({ id }) => id}
      onClose={onClose}
    >
      {(form) => <RoleFields form={form} />}
    </NewRecord>
  );
}

interface EditRoleProps {
  readonly record: Tagged<CustomRole>;
  readonly whyNot: string | undefined;
  readonly onClose: () => void;
}

const valuesOf = ({ name, permissions, isDefaultRole }: CustomRole): RoleValues => ({
  name,
  permissions,
  isDefaultRole,
});

function EditRole({ record, whyNot, onClose }: EditRoleProps) {
  const { id, name } = record.data;
  return (
    <>
      <RecordForm
        record={record}
        valuesOf={valuesOf}
        validate={{ name: validateName }}
        operation="updateRole"
        refreshes={concerned}
        inputOf={(body) => ({ params: { id }, body })}
        done="The role was changed for everyone who has it"
        whyNot={whyNot}
        verb="Save for everyone who has it"
        variant="filled"
        gap="md"
      >
        {(form) => <RoleFields form={form} />}
      </RecordForm>
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
        <p>Built in: it cannot be changed. Create a custom role for other rights.</p>
        <RightsList rights={fixed.rights} />
      </Detail>
    );
  return (
    <Detail title={found.data?.data.name ?? 'Role'} onClose={onClose}>
      <Loaded query={found}>{(role) => <EditRole record={role} whyNot={whyNot} onClose={onClose} />}</Loaded>
    </Detail>
  );
}

function CustomRoles({ organizationId, action }: { organizationId: string; action: React.ReactNode }) {
  const roles = useRead('listRoles', { query: { organizationId } });
  const call = callOf(
    'Create a role',
    'createRole',
    { body: { organizationId, name: 'Releaser', permissions: ['RUN_PLAN', 'RUN_APPLY'] } },
    ['role', 'create', 'Releaser', '--right', 'RUN_PLAN', '--right', 'RUN_APPLY'],
  );
  return (
    <Loaded query={roles} lines={3}>
      {(rows) => (
        <RecordsTable
          label="Custom roles"
          columns={customColumns}
          rows={rows}
          idOf={({ id }) => id}
          empty={
            <EmptyState title="No custom roles yet" call={call} action={action}>
              The built-in roles are enough for most. A custom one is a list of rights with a name.
            </EmptyState>
          }
        />
      )}
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
