export { pageFeature } from './page-routes.ts'
