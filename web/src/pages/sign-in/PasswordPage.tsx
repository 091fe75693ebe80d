export function PasswordPage() {
  return <main>stub</main>;
}
