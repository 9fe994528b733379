package operate

import (
	"context"
	"errors"
	"slices"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/api/pack"
	"landfall/internal/api/rules"
	"landfall/internal/lib/limits"
)

// AddPack stores a pack after checking that it can be used.
func (o *Operator) AddPack(ctx context.Context, text []byte) (*pack.Pack, error) {
	read, err := CheckPack(text)
	if err != nil {
		return nil, err
	}
	if _, builtin := pack.Builtin(read.Name()); builtin {
		return nil, nameTaken("The pack %s comes with the program. Choose another code.", read.Name())
	}
	err = o.change(ctx, "pack.add", read.Name(), func(tx landfall.Tx) (string, error) {
		err := tx.AddPack(ctx, landfall.Pack{Code: read.Code, Version: read.Version, Text: text})
		return read.Description, replaceError(err, landfall.ErrExists,
			nameTaken("There is already a pack %s, and a version never changes. Give yours the next version.", read.Name()))
	})
	if err != nil {
		return nil, err
	}
	return read, nil
}

// CheckPack reads a pack and tries it alone. It needs no database.
func CheckPack(text []byte) (*pack.Pack, error) {
	read, err := pack.Read(text)
	if err == nil {
		_, err = contract.NewSchema(read)
	}
	if err != nil {
		return nil, packError(err)
	}
	return read, nil
}

// packError turns the problems of a pack into a refusal that lists them.
func packError(err error) error {
	problems, is := errors.AsType[pack.Problems](err)
	if !is {
		return err
	}
	return invalid("pack", landfall.CodeValidationFailed, "The pack cannot be used:\n%s", problems.Error())
}

// PackFacts is what an operator sees of a pack.
type PackFacts struct {
	*pack.Pack
	Text      []byte
	Builtin   bool
	Suppliers []string // codes of the suppliers that use it
}

// Packs returns the built-in packs and all that were added.
func (o *Operator) Packs(ctx context.Context) ([]PackFacts, error) {
	var list []PackFacts
	err := o.view(ctx, "pack.list", func(view landfall.View) error {
		list = nil
		for _, name := range pack.BuiltinNames() {
			text, _ := pack.Builtin(name)
			list = append(list, PackFacts{Text: text, Builtin: true})
		}
		stored, err := view.Packs(ctx)
		if err != nil {
			return err
		}
		for _, each := range stored {
			list = append(list, PackFacts{Text: each.Text})
		}
		suppliers, err := view.Suppliers(ctx)
		if err != nil {
			return err
		}
		for i := range list {
			if list[i].Pack, err = pack.Read(list[i].Text); err != nil {
				return err
			}
			for _, supplier := range suppliers {
				if slices.Contains(supplier.Packs, list[i].Name()) {
					list[i].Suppliers = append(list[i].Suppliers, supplier.Code)
				}
			}
		}
		return nil
	})
	return list, err
}

// ShowPack returns one pack.
func (o *Operator) ShowPack(ctx context.Context, name string) (PackFacts, error) {
	list, err := o.Packs(ctx)
	if err != nil {
		return PackFacts{}, err
	}
	names := make([]string, len(list))
	for i, each := range list {
		if names[i] = each.Name(); names[i] == name {
			return each, nil
		}
	}
	return PackFacts{}, notFound(landfall.CodeNotFound, "There is no pack %q. %s", name, suggestion(name, names, "packs"))
}

// packSchema returns the schema of the packs that a supplier will have.
func packSchema(ctx context.Context, view landfall.View, supplier landfall.Supplier, change SupplierChange) (*contract.Schema, error) {
	names := supplier.Packs
	if change.Packs != nil {
		names = *change.Packs
	}
	switch {
	case len(names) > limits.PacksPerSupplier:
		return nil, invalid("pack", rules.CodeOutOfRange, "A supplier can use at most %d packs.", limits.PacksPerSupplier)
	case sameCode(names) != "":
		return nil, invalid("pack", rules.CodeInvalidChoice, "The pack %s is given twice. A supplier uses one version of a pack.", sameCode(names))
	}
	schema, err := contract.OpenSchema(names, func(name string) ([]byte, error) { return packText(ctx, view, name) })
	if err != nil {
		return nil, packError(err)
	}
	return schema, nil
}

// sameCode returns a code of which there are two versions, or "".
func sameCode(names []string) string {
	codes := make([]string, len(names))
	for i, name := range names {
		code, _, err := pack.SplitName(name)
		if err == nil && slices.Contains(codes[:i], code) {
			return code
		}
		codes[i] = code
	}
	return ""
}

func packText(ctx context.Context, view landfall.View, name string) ([]byte, error) {
	code, version, err := pack.SplitName(name)
	if err != nil {
		return nil, invalid("pack", rules.CodeInvalidChoice, "%s", err.Error())
	}
	found, err := view.Pack(ctx, code, version)
	if errors.Is(err, landfall.ErrNotFound) {
		known := pack.BuiltinNames()
		stored, err := view.Packs(ctx)
		if err != nil {
			return nil, err
		}
		for _, each := range stored {
			known = append(known, (&pack.Pack{Code: each.Code, Version: each.Version}).Name())
		}
		return nil, notFound(landfall.CodeNotFound, "There is no pack %q. %s", name, suggestion(name, known, "packs"))
	}
	return found.Text, err
}
