package convert

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// dictionary lists how old systems write the words of column and table names. Each line starts with
// the plain words that the others stand for.
const dictionary = `
account: ac acct acc accno acctno acnt accts accounts konto konten kontonr compte comptes cuenta cuentas conto rekening vkonto vertragskonto customeraccount cacct kto poliza polizas
account number: vkont acctnum accountref rekeningnummer contractnummer
account name: vkbez
account type: vktyp ktokl
account table: fkkvkp
customer table: but
transaction table: dfkkop fkkop
bill name: rechnungsempfaenger rechnungsempfanger
number: no num nbr nr numb nummer numero id identifier ident key nro seq sequence uid numeroid
reference: verwendungszweck ref refno referenz referencia
customer: cust customers client clients cliente clientes kunde kunden cus titular titulares holder holders owner person persons people personne contact contacts party parties partner consumer subscriber abonne member kontakt ansprechpartner klant klanten kd klant clienti cli utente utenti intestatario occupier occupant tenant
customer number: gpart geschaeftspartner buspartner klantnr klantnummer debiteurnr debiteurnummer
title: titles titel anrede civilite tratamiento titre aanhef
salutation: salut saluto
first: frst fst given fore vor prenom
first name: fname forename forenames firstname givenname givennames vorname vornamen nombre nombrepila christianname voornaam voornamen roepnaam fnm nome
last: lst sur family famille
last name: sname lname surname lastname familyname nachname familienname apellido apellidos nomfamille famname achternaam familienaam lnm cognome
name: nm nam names bezeichnung bez nom fullname naam
birth: born geburt geburts nacimiento naissance birthdate bday dob geb birthday gebdat birthdt dateofbirth geboorte geboortedatum gebdatum nascita nasc
email: emailaddress smtp courriel correo mel emailadr eml
mobile: mob mobil mobl cell cellular handy movil portable gsm mobiel cellulare
phone: tel telephone telefon telefono phon fon ph phones landline tlf telno phonno telefoon telefoonnr telefoonnummer
home: hm privat private fixe fijo festnetz domicile hme house
address: addr adr add adresse direccion address addrs anschrift domicilio indirizzo indir
line: ln ligne linea zeile lin
street: str strasse strase rue calle via road straat straatnaam
city: town ort stadt ville poblacion ciudad localidad suburb locality municipio municipality commune plaats woonplaats gemeente wohnort cty comune localita citta
county: region provincia province state bundesland departement prov cnty
postcode: pcode postalcode zip zipcode plz cp pc postleitzahl pstcd postcd postcodes cap pincode
country: land pays pais ctry cntry
mailing: payeur payer mail postal correspondence korrespondenz post corr
electronic: electronico electronique
balance: owes owed owing os bal saldo solde kontostand balances outstanding
amount: much amt amnt betrag montant importe betrw dmbtr wrbtr monto amounts sum summe wert valor bedrag importo
currency: ccy waers devise moneda waehrung wahrung currencyiso curry waehrg wahrg valuta
current: curr cur aktuell actuel actual
bill: bills billed billing statement statements stmt stmnt invoice invoices inv rechnung rechnungen facture factures factura facturas fact facturation facturacion abrechnung bl bll factuur facturen fattura fatture fatt bolletta bollette
issue: issued emission emision ausgestellt print emissione emiss
closing: closed close cierre cloture
period: prd periode periodo per zeitraum
start: from van begin began begun beg von ab debut desde inicio strt alta started commence commencement beginn vanaf dal inizio attivazione attiv
end: to until bis fin hasta baja ended ende stop finish expiry expires thru through tot au al fine cessazione
date: when am on dt dat datum fecha day tag jour dte dates fec data
time: dttm zeit hora heure tm timestamp ts datetime
type: typ types tipo art kind class category cat klasse tipologia nature soort causale
code: cd cde codigo flg flag cod kode
last: letzter previous prev prior letzte derniere dernier ultima ultimo laatste vorige
next: nxt naechste prochaine proxima
due: faellig echeance vencimiento
language: lang sprache langue idioma lng
preference: pref prefs preferred
communication: comm comms correspond
channel: chan kanal canal
sale: sales sold verkauf vente venta
company: firma organisation organization org societe empresa
payment: payments pay paid pmt pymt pmnt zahlung zahlungen paiement paiements pago pagos receipt receipts rcpt zahl received betaling betalingen cobro cobros reglement reglements regle betaal pagamento pagamenti incasso
method: meth by mthd means mode how zahlweg forma moyen wijze
transaction: ft led txn trx trans tran transactions txns fintran booking bookings buchung buchungen posting postings ledger journal entry entries ecriture ecritures movimiento movimientos movement movements buch financial mutatie mutaties boeking boekingen beleg mov movimento movimenti asiento asientos
transaction number: opbel belegnr belegnummer mutatienr mutatienummer boekingsnr
transaction date: budat buchdat buchungsdatum buchungsdat boekdatum boekingsdatum
transaction type: blart hvorg
description: desc descr narr narrative text txt libelle concepto optxt sgtxt details detail remark remarks bemerkung texto memo particulars omschrijving summary narration descrizione
note: notes nota notas notiz notizen comment comments kommentar commentaire notitie notities opmerking opmerkingen ticket tickets
pinned: sticky pin
created: create written entered erstellt angelegt crdate logged
user: staff agent operator
supply: frmp sup supp liefer sply service serv srv svc suministro suministros fourniture lieferung versorgung levering belieferung fornitura forniture
point: pt points pnt connection connections lieferstelle livraison installation anlage anschluss delivery aansluiting aansluitingen
market point number: ui icp spid mpan mprn mpxn nmi mirn pdl prm pce cups zaehlpunkt zahlpunkt malo marktlokation melo messlokation mpancore zpid zpnr esiid pod udc ean
supply table: ever sps spt sp
premise: prem phys physical premises property properties prop site sites verbrauchsstelle vstelle objekt local
fuel: commodity energy energie energia sparte utility util elec electricity gas division fueltype medium
tariff: tarif offre offres tarife tarifs tarifa tarifas trf product prod produit producto produkt plan rateplan tariftyp tariffs tarief tariffa
agreement: agreements agr contract contracts contr cntr vertrag vertraege contrat contrats contrato contratos overeenkomst sa vertr contratto contratti
meter: mtr meters zaehler zahler geraet compteur compteurs contador contadores device equipment equi mtrs met contatore contatori misuratore
value: val
source: src
serial: ser sn gernr geraetenr seriennr serie geraetenummer matricule matricola matr sl
register: reg registers zaehlwerk zw dial rgstr regstr telwerk
register number: zwnummer zwnr
reading: read reads readings rdg ablesung ablesungen zaehlerstand zahlerstand stand lectura lecturas releve releves index zwstand rd meterstand opname ablese lettura letture
reading date: adat adatum ablesedatum abldat
reading type: ablesart istablart ablart
digits: dgts stellen dials
install: installed inst einbau instal pose instalacion
install date: einbdat instdt
remove: removed removal rem rmv ausbau depose retirada
remove date: ausbdat
move: moved moving
move in: einzug movein occupied occupation occupancy since einz
move out: auszug moveout auszdat vacated
move in date: einzdat
schedule: schedules sched schd instalment instalments installment installments ratenplan plans
direct debit: dd dds directdebit lastschrift sepa prelevement domiciliacion autopay
mandate: mandat mandates mandato instruction instructions
bank: bnk
vendor: provider processor gateway psp
frequency: freq frequenz frequence frecuencia interval
month: mth monat mois mes monthly
total: tot ttc gesamt brutto gross grs totaal totale
net: netto
tax: vat gst mwst tva iva steuer
quantity: qty menge units unit cantidad quantite usage consumption verbrauch kwh consumo quantita
price: preis prix precio unitprice
rate: band satz taux
item: items position positions detalle
reason: rsn grund motif motivo
role: rolle rol
status: stat sts estado statut state_code
open: offen pendiente openstaand openstaande opening
document: doc file filename pdf path datei fichier archivo dokument
company number: abn siret siren nif cif ust crn companyno piva partitaiva codfisc codicefiscale
pence: p cents cent c minor
of: us our de la le les du des del di da und and or y et for the a an is der die das l d s
paperless: ebill ebilling
letter: letters
address 2: complement complementdadresse complementadresse
supply start: miseenservice
supply end: resiliation
start date: ingangsdatum
end date: einddatum
created user: createdby
`

// noiseWords say little about a column.
var noiseWords = strings.Fields("of code electronic value valid data ext extract export tbl table pence info iso eur euro gbp usd chf inr rs")

// dictionaryWords looks up the parts of names in the dictionary.
var dictionaryWords = sync.OnceValue(func() map[string][]string {
	known := map[string][]string{}
	for line := range strings.Lines(dictionary) {
		plain, others, _ := strings.Cut(strings.TrimSpace(line), ":")
		stands := strings.Fields(plain)
		for _, word := range stands {
			if _, is := known[word]; !is {
				known[word] = []string{word}
			}
		}
		for other := range strings.FieldsSeq(others) {
			// Zaehler and Zähler are the same word.
			for _, written := range []string{other, umlauts.Replace(other)} {
				if _, is := known[written]; !is {
					known[written] = stands
				}
			}
		}
	}
	return known
})

// umlauts replaces how German words are written without them by their letters without accents.
var umlauts = strings.NewReplacer("ae", "a", "oe", "o", "ue", "u")

// foldedRunes replaces letters that are more than a letter with an accent.
var foldedRunes = strings.NewReplacer("ß", "ss", "№", "No ", "N°", "No ", "n°", "no ")

// nameParts splits a name into its parts: at punctuation, at digits, and where capitals begin.
func nameParts(name string) (parts []string) {
	// Salesforce marks its users' own fields so.
	for _, suffix := range []string{"__c", "__r"} {
		name = strings.TrimSuffix(name, suffix)
	}
	name = foldedRunes.Replace(name)
	var part []rune
	flush := func() {
		if len(part) > 0 {
			parts = append(parts, strings.ToLower(string(part)))
			part = part[:0]
		}
	}
	letters := []rune(norm.NFKD.String(name))
	for i, r := range letters {
		switch {
		case unicode.Is(unicode.Mn, r): // an accent
			continue
		case (r == '\'' || r == '’') && len(part) == 1: // d'énergie
			flush()
		case r == '\'' || r == '’' || r == '.' && (i < 2 || !unicode.IsLetter(letters[i-2])): // Customer's, D.O.B.
			continue
		case r == '#':
			flush()
			parts = append(parts, "number")
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
		default:
			if len(part) > 0 {
				last := part[len(part)-1]
				next := i+1 < len(letters) && unicode.IsLower(letters[i+1])
				if unicode.IsDigit(r) != unicode.IsDigit(last) || unicode.IsUpper(r) && (unicode.IsLower(last) || next && unicode.IsUpper(last) && len(part) > 1) {
					flush()
				}
			}
			part = append(part, r)
		}
	}
	flush()
	return parts
}

// nameWords returns the plain words of a name.
func nameWords(name string) (list []string) {
	known := dictionaryWords()
	parts := nameParts(name)
	// A name may be in the dictionary as a whole: e-mail, first name.
	if whole, is := known[strings.Join(parts, "")]; is && len(parts) > 1 && len(strings.Join(parts, "")) > 3 {
		return whole
	}
	for _, part := range parts {
		switch stands, is := known[part]; {
		case is:
			list = append(list, stands...)
		case unicode.IsDigit(rune(part[0])):
			list = append(list, strings.TrimLeft(part, "0"))
		default:
			if split := splitCompound(part); split != nil {
				list = append(list, split...)
			} else if stands := known[strings.TrimRight(part, "sn")]; stands != nil && len(part) > 5 { // Rechnungs-Nr
				list = append(list, stands...)
			} else {
				list = append(list, part)
			}
		}
	}
	return joinPhrases(list)
}

// phrases are words that mean something else together.
var phrases = []struct {
	from []string
	to   string
}{
	{[]string{"mailing", "code"}, "postcode"}, {[]string{"code", "mailing"}, "postcode"},
	{[]string{"home", "number"}, "number"}, {[]string{"e", "mailing"}, "email"}, {[]string{"email", "address"}, "email"},
	{[]string{"email", "electronic"}, "email"}, {[]string{"address", "mailing", "electronic"}, "email"},
	{[]string{"date", "time"}, "time"}, {[]string{"date", "of", "time"}, "time"},
	{[]string{"birth", "date"}, "birth"}, {[]string{"date", "birth"}, "birth"}, {[]string{"date", "of", "birth"}, "birth"},
	{[]string{"address", "address"}, "address"}, {[]string{"agreement", "account"}, "account"}, {[]string{"number", "1"}, "1"}, {[]string{"number", "2"}, "2"}, {[]string{"line", "number"}, "line"},
}

// joinPhrases replaces words that belong together.
func joinPhrases(list []string) []string {
	for _, phrase := range phrases {
		for i := 0; i+len(phrase.from) <= len(list); i++ {
			if slices.Equal(list[i:i+len(phrase.from)], phrase.from) {
				list = slices.Concat(list[:i], []string{phrase.to}, list[i+len(phrase.from):])
			}
		}
	}
	return list
}

// shortWords are the words of two letters that a name without separators may contain.
var shortWords = []string{"dt", "no", "nr", "id", "cd", "in", "bl", "st", "to", "hm", "sp"}

// splitCompound splits a name without separators, such as CUSTACCT, LASTBLDT or Kundennummer, into as
// few known words as possible. It returns nil if the words do not cover the name.
func splitCompound(name string) []string {
	if len(name) < 4 || len(name) > 40 {
		return nil
	}
	known := dictionaryWords()
	type step struct{ pieces, from int }
	best := make([]step, len(name)+1)
	for i := range best {
		best[i] = step{len(name) + 1, -1}
	}
	best[0].pieces = 0
	for end := 2; end <= len(name); end++ {
		for from := range end - 1 {
			piece := name[from:end]
			if best[from].pieces > len(name) {
				continue
			}
			// German joins words with an s.
			if from > 0 && len(piece) > 3 && piece[0] == 's' && known[piece] == nil {
				piece = piece[1:]
			}
			if known[piece] == nil && piece != "st" || len(piece) < 3 && !slices.Contains(shortWords, piece) {
				continue
			}
			if pieces := best[from].pieces + 1; pieces < best[end].pieces {
				best[end] = step{pieces, from}
			}
		}
	}
	if best[len(name)].pieces > 4 {
		return nil
	}
	var list []string
	for end := len(name); end > 0; end = best[end].from {
		piece := name[best[end].from:end]
		stands := known[piece]
		switch {
		case piece == "st":
			stands = []string{"start"}
		case stands == nil:
			stands = known[piece[1:]] // after the s of a compound
		}
		list = append(slices.Clone(stands), list...)
	}
	return list
}

// plainName makes names comparable.
func plainName(name string) string { return strings.Join(nameParts(name), "") }
