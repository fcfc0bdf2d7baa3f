import { ApiError } from '@atelier/client'
import { signIn } from '@atelier/contract'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { Link, useLocation, useSearch } from 'wouter'
import { sessionQuery } from '../lib/queries.ts'
import { useServices } from '../lib/services.tsx'
import { Button } from '../ui/button.tsx'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { TextField } from '../ui/field.tsx'
import styles from './auth.module.css'
import { AuthPage } from './auth-page.tsx'
import { isFieldError, issueFor } from './field-errors.ts'
import { nextOf, withNext } from './next-address.ts'

export function SignIn() {
  const { client } = useServices()
  const queryClient = useQueryClient()
  const [, navigate] = useLocation()
  const search = useSearch()
  const signing = useMutation({
    mutationFn: (body: { email: string; password: string }) => client.call(signIn, { body }),
    onSuccess: async () => {
      await queryClient.fetchQuery({ ...sessionQuery({ client }), staleTime: 0 })
      navigate(nextOf(search), { replace: true })
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    signing.mutate({ email: String(form.get('email')), password: String(form.get('password')) })
  }
  const { error } = signing
  const refused = error instanceof ApiError && error.code === 'UNAUTHORIZED' ? error.message : undefined
  return (
    <AuthPage
      title="Sign in"
      lead="to your Atelier"
      foot={
        <>
          No account yet? <Link href={withNext('/sign-up', search)}>Create one</Link>
        </>
      }
    >
      <form className={styles.form} onSubmit={submit} noValidate>
        <TextField
          label="E-mail"
          name="email"
          type="email"
          autoComplete="username"
          required
          error={issueFor(error, 'email')}
        />
        <TextField
          label="Password"
          name="password"
          type="password"
          autoComplete="current-password"
          required
          error={issueFor(error, 'password') ?? refused}
        />
        {signing.isError && refused === undefined && !isFieldError(error) && <ErrorNotice error={error} />}
        <Button type="submit" variant="primary" busy={signing.isPending}>
          Sign in
        </Button>
      </form>
    </AuthPage>
  )
}
