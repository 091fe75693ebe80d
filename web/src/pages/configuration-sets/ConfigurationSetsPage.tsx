import { Page } from '../../ui/Page.tsx';

export function ConfigurationSetsPage() {
  return (
    <Page title="Configuration sets" calls={[]}>
      stub
    </Page>
  );
}
