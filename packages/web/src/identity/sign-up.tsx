import { signUp } from '@atelier/contract'
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

export function SignUp() {
  const { client } = useServices()
  const queryClient = useQueryClient()
  const [, navigate] = useLocation()
  const search = useSearch()
  const creating = useMutation({
    mutationFn: (body: { name: string; email: string; password: string }) => client.call(signUp, { body }),
    onSuccess: async () => {
      await queryClient.fetchQuery({ ...sessionQuery({ client }), staleTime: 0 })
      navigate(nextOf(search), { replace: true })
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const text = (name: string) => String(form.get(name))
    creating.mutate({ name: text('name'), email: text('email'), password: text('password') })
  }
  const { error } = creating
  return (
    <AuthPage
      title="Create an account"
      lead="The first account of a new Atelier is its administrator."
      foot={
        <>
          Have one already? <Link href={withNext('/sign-in', search)}>Sign in</Link>
        </>
      }
    >
      <form className={styles.form} onSubmit={submit} noValidate>
        <TextField label="Name" name="name" autoComplete="name" required error={issueFor(error, 'name')} />
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
          autoComplete="new-password"
          required
          hint="At least 12 characters. A sentence works well."
          error={issueFor(error, 'password')}
        />
        {creating.isError && !isFieldError(error) && <ErrorNotice error={error} />}
        <Button type="submit" variant="primary" busy={creating.isPending}>
          Create account
        </Button>
      </form>
    </AuthPage>
  )
}
