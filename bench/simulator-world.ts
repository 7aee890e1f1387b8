/** What the simulated platform holds, as all programs of the bench know it. */
export const APP_SECRET = 'bench-app-secret'
export const VERIFY_TOKEN = 'bench-verify-token'
export const ACCESS_TOKEN = 'bench-token'
export const WABA = '200000000000001'
export const numberId = (index: number): string => `1${String(index + 1).padStart(14, '0')}`
/** The text that every message of the bench has. */
export const TEXT = 'Your order 1001 is on its way and arrives tomorrow between nine and noon. Reply STOP to opt out.'
