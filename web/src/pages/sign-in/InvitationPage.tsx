export function InvitationPage() {
  return <main>stub</main>;
}
