import { Page } from '../../ui/Page.tsx';

export function EnvironmentsPage() {
  return (
    <Page title="Environments" calls={[]}>
      stub
    </Page>
  );
}
