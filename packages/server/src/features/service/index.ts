export { serviceFeature } from './service-routes.ts'
