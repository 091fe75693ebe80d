import { Page } from '../../ui/Page.tsx';

export function PermissionsPage() {
  return (
    <Page title="Permissions" calls={[]}>
      stub
    </Page>
  );
}
