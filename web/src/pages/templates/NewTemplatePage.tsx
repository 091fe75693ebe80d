import { Page } from '../../ui/Page.tsx';

export function NewTemplatePage() {
  return (
    <Page title="New template" calls={[]}>
      stub
    </Page>
  );
}
