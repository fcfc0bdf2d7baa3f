import { signOut } from '@atelier/contract'
import { useMutation } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { useServices } from '../lib/services.tsx'
import { errorLine } from '../ui/describe-error.ts'

/** Ends the session and forgets what was read in it. */
export function useSignOut() {
  const { client, queryClient, toasts } = useServices()
  const [, navigate] = useLocation()
  return useMutation({
    mutationFn: () => client.call(signOut),
    onSuccess: () => {
      queryClient.clear()
      queryClient.setQueryData(['session'], null)
      navigate('/sign-in')
    },
    onError: (error) => toasts.show({ tone: 'error', text: errorLine(error) }),
  })
}
