export { healthFeature } from './health-routes.ts'
