package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/chelahost/chela/host/pack"
)

func (a *app) keyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "key",
		Short: "Make keys to sign packages with",
		Args:  noSuchCommand,
		RunE:  a.helpOnly,
	}
	cmd.AddCommand(a.newKeyCommand())
	return cmd
}

func (a *app) newKeyCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "new [-o FILE]",
		Short: "Make a pair of Ed25519 keys",
		Long: `Make a pair of Ed25519 keys. The private key goes into FILE, which only you can read;
keep it, and keep it to yourself. The public key goes into FILE.pub, and is printed:
publish it where it cannot be mistaken, for it is what operators trust.

Files that are there already are never replaced.`,
		Example: `  chela key new -o publisher.key`,
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			key, err := pack.NewKey(output)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.err, "private key in %s, public key in %s\n", output, output+pack.PublicSuffix)
			_, err = fmt.Fprintln(a.out, key.Public())
			return err
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "chela.key", "write the private key into `FILE`, and the public key into FILE.pub")
	return cmd
}
