package cli

import (
	"fmt"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// shownProfile is a profile as it may be printed.
type shownProfile struct {
	Name    string `json:"name"`
	URL     string `json:"url"`
	Current bool   `json:"current"`
}

func profilesCommand() *cobra.Command {
	asJSON := false
	list := &cobra.Command{
		Use: "list", Short: "List the services that callboard login knows; the current one has a star", Args: cobra.NoArgs,
		Example: "  callboard profiles list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := readProfiles()
			if err != nil {
				return err
			}
			shown := []shownProfile{}
			for _, name := range slices.Sorted(maps.Keys(all.List)) {
				shown = append(shown, shownProfile{name, all.List[name].URL, name == all.Current})
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), shown)
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
			_, _ = fmt.Fprintln(w, "\tNAME\tURL")
			for _, p := range shown {
				_, _ = fmt.Fprintf(w, "%s\t%s\t%s\n", map[bool]string{true: "*"}[p.Current], Clean(p.Name), Clean(p.URL))
			}
			return w.Flush()
		},
	}
	change := func(use, short, example string, do func(*Profiles, string)) *cobra.Command {
		return &cobra.Command{
			Use: use, Short: short, Args: cobra.ExactArgs(1), Example: "  " + example,
			RunE: func(cmd *cobra.Command, args []string) error {
				all, err := readProfiles()
				if err != nil {
					return err
				}
				if _, err = all.named(args[0]); err != nil {
					return err
				}
				do(all, args[0])
				if err = all.write(); err != nil || !asJSON {
					return err
				}
				return printJSON(cmd.OutOrStdout(), shownProfile{args[0], all.List[args[0]].URL, all.Current == args[0]})
			},
		}
	}
	use := change("use NAME", "Ask this service from now on", "callboard profiles use production", func(p *Profiles, name string) { p.Current = name })
	remove := change("remove NAME", "Forget a service and its key", "callboard profiles remove test", func(p *Profiles, name string) {
		delete(p.List, name)
		if p.Current == name {
			p.Current = ""
		}
	})
	for _, c := range []*cobra.Command{list, use, remove} {
		c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	}
	return group("profiles", "Services that callboard login knows, by name", list, use, remove)
}
