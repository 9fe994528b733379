package operate

import (
	"context"

	"landfall"
)

// CreateOrganisation makes an organisation. It may use nothing until it has a
// key and is granted a supplier.
func (o *Operator) CreateOrganisation(ctx context.Context, name string) error {
	if err := checkLine("name", "The organisation's name", name, longestName); err != nil {
		return err
	}
	return o.change(ctx, "organisation.create", name, func(tx landfall.Tx) (string, error) {
		return "", because(tx.CreateOrganisation(ctx, name), landfall.ErrExists,
			taken("There is already an organisation %q.", name))
	})
}

// Organisations gives all organisations, by name.
func (o *Operator) Organisations(ctx context.Context) ([]landfall.Organisation, error) {
	var organisations []landfall.Organisation
	err := o.view(ctx, "organisation.list", func(view landfall.View) error {
		var err error
		organisations, err = view.Organisations(ctx)
		return err
	})
	return organisations, err
}

// DisableOrganisation shuts an organisation out: its keys and tokens are
// refused until it is enabled again.
func (o *Operator) DisableOrganisation(ctx context.Context, name string) error {
	return o.setDisabled(ctx, "organisation.disable", name, true)
}

// EnableOrganisation lets a disabled organisation in again.
func (o *Operator) EnableOrganisation(ctx context.Context, name string) error {
	return o.setDisabled(ctx, "organisation.enable", name, false)
}

func (o *Operator) setDisabled(ctx context.Context, action, name string, disabled bool) error {
	return o.change(ctx, action, name, func(tx landfall.Tx) (string, error) {
		err := tx.SetOrganisationDisabled(ctx, name, disabled)
		return "", organisationFault(ctx, tx, name, err)
	})
}
