import { Page } from '../../ui/Page.tsx';

export function TeamsPage() {
  return (
    <Page title="Teams" calls={[]}>
      stub
    </Page>
  );
}
