/** What columns hold that are text, numbers or JSON to the database. */
export interface Columns {
  'schedule.action': 'deploy' | 'destroy' | 'driftDetection';
}
