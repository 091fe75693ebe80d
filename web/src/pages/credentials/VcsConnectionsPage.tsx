import { Page } from '../../ui/Page.tsx';

export function VcsConnectionsPage() {
  return (
    <Page title="Forges" calls={[]}>
      stub
    </Page>
  );
}
