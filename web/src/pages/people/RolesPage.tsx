import { Page } from '../../ui/Page.tsx';

export function RolesPage() {
  return (
    <Page title="Roles" calls={[]}>
      stub
    </Page>
  );
}
