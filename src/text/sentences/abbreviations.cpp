#include "text/sentences/abbreviations.hpp"

#include <algorithm>
#include <iterator>

#include "text/unicode/utf8.hpp"

#if LAPILLI_HAVE_UTF8PROC
#include <utf8proc.h>
#endif

namespace lapilli {
namespace {

// Words separated by blanks, lower case. A '#' after one: before_number; '~': maybe.
struct LanguageRules {
  std::string_view code, code3;
  std::string_view abbreviations;
  std::string_view starters;  // capitalized
};

constexpr LanguageRules kTables[] = {
    {"en", "eng",
     "mr mrs ms mx dr prof rev hon st mt ft gen col capt cmdr cpl lt sgt maj adm gov sen rep pres supt messrs msgr "
     "e.g i.e eg ie cf viz vs v al approx dept asst assoc univ ave blvd no# nos# p# pp# vol# vols# fig# figs# art# "
     "sec# "
     "ch# eq# ed# op# jan# feb# mar# apr# jun# jul# aug# sep# sept# oct# nov# dec# inc~ ltd~ co~ corp~ llc~ bros~ jr~ "
     "sr~ esq~ a.m~ p.m~ ph.d~",
     "The A An He She It They We You I This That These Those There In On At But And Or However If When While As After "
     "Before For From To With His Her Its Their Our My Your What Who Why How Where Then So Not No Yes Is Are Was Do "
     "Did Nothing Nobody Now Here"},
    {"de", "deu",
     "dr prof hr fr frl hrn st ing dipl dipl.-ing mag med phil jur rer nat habil z.b d.h u.a i.d.r o.ä u.ä s.o s.u v.a "
     "i.a z.t z.zt m.e o.g sog bzw bspw ca evtl ggf inkl exkl insb max min mind vgl gem lt zzgl abzgl geb gest verh "
     "allg bes betr ehem eigtl entspr erg ff röm kath evang str# nr# nrn# s# abs# art# bd# bde# kap# abb# tab# aufl# "
     "ziff# anm# anh# jh jhd jhs jan# feb# febr# mär# apr# jun# jul# aug# sep# sept# okt# nov# dez# tel# usw~ etc~ co~ "
     "hl kgl staatl städt österr schweiz dt engl frz ital lat griech russ span amerik v n u a",
     "Der Die Das Ein Eine Er Sie Es Wir Ihr Ich Du In Im Am An Auf Aus Bei Mit Nach Von Vor Zu Und Aber Oder Doch "
     "Denn Wenn Als Dann Da Dort Dies Diese Dieser Dieses Sein Seine Ihre Mein Was Wer Wo Wie Warum Nicht Nun Heute "
     "Sehr Bitte Damit Dabei Dazu Für Auch"},
    {"fr", "fra",
     "m mm mme mlle mmes mlles dr pr me mgr st ste c.-à-d p.ex ex cf env av apr éd trad cap col gén adj n° no# nos# "
     "p# pp# vol# fig# art# chap# t# al# janv# févr# avr# juil# sept# oct# nov# déc# tél# etc~ cie~ sté~ bd boul",
     "Le La Les Un Une Des Il Elle On Nous Vous Ils Elles Je Tu Ce Cette Ces Cela Dans En Sur Mais Et Ou Donc Or Si "
     "Quand Comme Pour Avec Par Son Sa Ses Leur Mon Ma Que Qui Où Comment Pourquoi Puis Alors Ainsi Voici Voilà Rien"},
    {"es", "spa",
     "sr sra sres sras srta d dña dr dra prof profa lic ing arq gral cnel cap p.ej ej aprox av avda c pza dpto sto sta "
     "ud uds vd vds núm# n.º# nº# pág# págs# vol# fig# art# cap# t# s# a.c d.c ee.uu~ etc~ cía~ s.a~",
     "El La Los Las Un Una Él Ella Ellos Nosotros Yo Tú Se Lo Le En Por Para Con De Pero Y O Si Cuando Como Este Esta "
     "Esto Ese Eso Su Sus Mi No Sí Qué Quién Dónde Entonces Así Hoy Ya Después"},
    {"it", "ita",
     "sig sigg sig.ra sig.na dott dott.ssa dr prof prof.ssa ing avv arch geom rag on sen gen col cap mons p.es es ca "
     "cfr ecc~ s.p.a~ s.r.l~ n# nr# pag# pagg# vol# fig# art# artt# cap# lett# tel# v.le p.zza c.so",
     "Il Lo La I Gli Le Un Una Uno Lui Lei Loro Noi Io Tu Si In Nel Nella Per Con Di Da Ma E O Se Quando Come Questo "
     "Questa Quello Suo Sua Mio Non Che Chi Dove Perché Poi Così Oggi"},
    {"pt", "por",
     "sr sra srs sras srta dr dra prof profa eng arq exmo exma v.exa d av r p.ex ex aprox cap cel gen sto sta n.º# nº# "
     "núm# pág# págs# p# pp# vol# fig# art# cap# tel# etc~ ltda~ cia~ s.a~ e.u.a~",
     "O A Os As Um Uma Ele Ela Eles Nós Eu Tu Você Se Em No Na Por Para Com De Mas E Ou Quando Como Este Esta Isto "
     "Esse Isso Seu Sua Meu Não Sim Que Quem Onde Então Assim Hoje Já Depois"},
    {"nl", "nld",
     "dhr mevr mw dr drs ir ing mr prof ds st bv bijv d.w.z d.m.v i.p.v m.b.t o.a t.a.v t.o.v z.g zgn ca evt incl excl "
     "m.i.v max min resp vgl wsch nr# nrs# p# blz# art# afb# hfst# dl# jan# feb# mrt# apr# aug# sept# okt# nov# dec# "
     "tel# enz~ etc~ b.v~ n.v~",
     "De Het Een Hij Zij Ze Wij We Ik Jij Je Dit Dat Deze Die In Op Aan Met Van Voor Na Maar En Of Als Toen Dan Er "
     "Daar Hier Mijn Zijn Haar Wat Wie Waar Hoe Waarom Niet Nu Ook"},
    {"sv", "swe",
     "bl.a t.ex d.v.s dvs s.k m.m~ m.fl~ osv~ etc~ ca dr prof st kl# nr# s# sid# kap# tel# fr.o.m t.o.m f.d fd p.g.a",
     "Den Det De Han Hon Vi Jag Du Ni En Ett I På Men Och Om När Som Detta Denna Då Där Här Min Vad Vem Var Hur"},
    {"da", "dan",
     "bl.a f.eks d.v.s dvs ca dr prof hr fr st kl# nr# s# kap# tlf# osv~ mv~ m.v~ m.m~ pga p.g.a jf inkl ekskl",
     "Den Det De Han Hun Vi Jeg Du I En Et På Men Og Om Når Som Dette Denne Da Der Her Min Hvad Hvem Hvor"},
    {"nb", "nob", "bl.a f.eks dvs d.v.s ca dr prof hr fr st kl# nr# s# kap# tlf# osv~ mv~ m.m~ pga jf inkl ekskl",
     "Den Det De Han Hun Vi Jeg Du I En Et På Men Og Om Når Som Dette Denne Da Der Her Min Hva Hvem Hvor"},
    {"fi", "fin", "esim mm ym~ jne~ tri prof ko em eaa s# n# nro# ks ts tms~ klo# puh# v# eli alk",
     "Se Hän He Me Minä Sinä Te Ne Tämä Tuo Nämä Ja Mutta Tai Jos Kun Kuin Siellä Täällä Mikä Kuka Missä Miten Ei"},
    {"pl", "pol",
     "np tj tzn dr hab prof inż mgr lek ks św bł gen płk kpt mjr por red im al ul pl os woj pow gm ok wg tzw m.in ub "
     "nr# s# str# t# tel# rys# tab# art# ust# pkt# poz# godz# itd~ itp~ r~ w~ zł~ tys mln mld",
     "To Ten Ta Te On Ona Ono Oni My Ja Ty W We Na Po Do Z Ze I A Ale Lub Jeśli Gdy Jak Nie Co Kto Gdzie Kiedy Jest "
     "Są"},
    {"cs", "ces",
     "např tj tzn tzv dr prof doc ing mgr bc judr mudr phdr rndr sv gen plk kpt mjr pan p pí ul nám č# čís# s# str# "
     "obr# tab# odst# kap# tel# atd~ apod~ aj~ r# stol~ mil tis",
     "To Ten Ta Ti On Ona Ono Oni My Já Ty V Ve Na Po Do Z Ze I A Ale Nebo Když Jak Ne Co Kdo Kde Je Jsou"},
    {"sk", "slk",
     "napr tj tzn tzv dr prof doc ing mgr bc judr mudr phdr sv gen plk kpt mjr p pí ul nám č# čís# s# str# obr# tab# "
     "ods# kap# tel# atď~ apod~ r# stor~ mil tis",
     "To Ten Tá Tí On Ona Ono Oni My Ja Ty V Vo Na Po Do Z Zo I A Ale Alebo Keď Ako Nie Čo Kto Kde Je Sú"},
    {"hu", "hun", "pl dr prof id ifj özv ún kb ill stb~ u i.e i.sz old# sz# kb# tel# st vö ld mo",
     "A Az Egy Ez Ő Ők Mi Én Te De És Vagy Ha Mert Hogy Amikor Ott Itt Nem Ki Hol Mikor Miért"},
    {"ro", "ron",
     "dl d-l dna d-na dr prof ing gen col sf str bd ex cca nr# p# pag# art# alin# lit# vol# fig# tel# etc~ ș.a~ "
     "ș.a.m.d~ i.hr d.hr",
     "El Ea Ei Ele Noi Eu Tu Un O În La De Pe Cu Din Pentru Dar Și Sau Dacă Când Acest Această Nu Ce Cine Unde Cum"},
    {"ru", "rus",
     "т.е т.к т.н т.о напр им ул пр пер пл наб просп бул д кв обл гор пос дер св проф доц акад инж гр г-н г-жа тов см "
     "ср "
     "рис# табл# стр# с# гл# т# п# пп# ст# ч# тел# № руб~ коп~ тыс млн млрд г~ гг~ в~ вв~ н.э~ т.д~ т.п~ др~ пр~",
     "Он Она Оно Они Мы Я Ты Вы Это Эта Этот Эти В Во На По Из С К И А Но Или Если Когда Как Что Кто Где Не Его Её "
     "Там Здесь Тогда Потом Так"},
    {"uk", "ukr",
     "т.е т.зв напр ім вул просп пров пл обл смт св проф доц акад інж гр п див пор рис# табл# стор# с# гл# т# ст# ч# "
     "тел# № грн~ коп~ тис млн млрд р~ рр~ ст~ н.е~ т.д~ т.п~ ін~ та.ін~",
     "Він Вона Воно Вони Ми Я Ти Ви Це Ця Цей Ці У В На По З Із І Й А Але Або Якщо Коли Як Що Хто Де Не Його Її Там "
     "Тут"},
    {"bg", "bul",
     "т.е т.нар напр ул бул пл обл гр с св проф доц акад инж д-р г-н г-жа вж ср фиг# табл# стр# т# чл# ал# тел# лв~ "
     "хил млн млрд г~ в~ т.н~ др~",
     "Той Тя То Те Ние Аз Ти Вие Това Тази Този Тези В Във На По От С И А Но Или Ако Когато Как Какво Кой Къде Не"},
    {"el", "ell",
     "π.χ δηλ κ κα κος κ.λπ~ κλπ~ κ.ά~ κ.α~ αγ δρ καθ λεωφ βλ πρβλ σελ# αρ# τηλ# εικ# κεφ# τ# μ.χ~ π.μ~ μ.μ~",
     "Ο Η Το Οι Τα Ένας Μια Ένα Αυτός Αυτή Αυτό Εμείς Εγώ Στο Στη Στην Και Αλλά Αν Όταν Πως Τι Ποιος Πού Δεν"},
    {"hr", "hrv",
     "npr tj tzv dr prof ing mr sv gen gosp gđa ul trg sl br# str# čl# st# tel# itd~ i.sl~ sl~ god~ tis mil",
     "To Taj Ta Ti On Ona Ono Oni Mi Ja Vi U Na Po Od Iz S I A Ali Ili Ako Kad Kako Što Tko Gdje Ne Je Su"},
    {"sl", "slv", "npr tj t.i dr prof mag ing sv gen g ga ul oz oziroma št# str# čl# odst# tel# itd~ ipd~ tis mio",
     "To Ta Ti On Ona Ono Oni Mi Jaz Vi V Na Po Od Iz S Z In A Ali Če Ko Kako Kaj Kdo Kje Ne Je So"},
    {"tr", "tur",
     "dr prof doç yrd av sn müh öğr gör org gen alb yzb örn bkz vd vb~ vs~ cad sok mah apt no# nr# s# sf# c# tel# yy "
     "m.ö m.s",
     "Bu Şu O Biz Ben Sen Siz Onlar Bir Ve Ama Fakat Eğer Çünkü Ancak Ne Kim Nerede Nasıl Neden"},
    {"et", "est", "nt st s.o dr prof pr hr hra vt lk# nr# tel# jne~ jms~ u umb e.m.a p.m.a",
     "See Ta Tema Nad Me Mina Sa Te Ja Aga Või Kui Et Seal Siin Mis Kes Kus Kuidas Ei"},
    {"lv", "lav", "piem t.i t.s dr prof sv ģen lpp# nr# tel# u.c~ u.tml~ utt~ plkv g# gs",
     "Tas Tā Viņš Viņa Viņi Mēs Es Tu Jūs Un Bet Vai Ja Kad Kā Kas Kur Ne Šis Šī"},
    {"lt", "lit", "pvz t.y dr prof doc šv gen g pr p# psl# nr# tel# t.t~ kt~ pan~ m# tūkst mln mlrd",
     "Tai Jis Ji Jie Mes Aš Tu Jūs Ir Bet Ar Jei Kai Kaip Kas Kur Ne Šis Ši Tas Ta"},
    {"ca", "cat", "sr sra dr dra prof st sta av c pl p.ex ex aprox núm# pàg# p# vol# fig# art# cap# tel# etc~ s.a~",
     "El La Els Les Un Una Ell Ella Ells Nosaltres Jo Tu En Per Amb De Però I O Si Quan Com Aquest Aquesta Això No Què "
     "Qui On"},
};

// Finds `word` in a list separated by blanks; returns the mark after it, ' ' for none, 0 if it is missing.
char find_word(std::string_view list, std::string_view word) {
  for (size_t at = list.find(word); at != std::string_view::npos; at = list.find(word, at + 1)) {
    if (at != 0 && list[at - 1] != ' ') continue;
    const size_t end = at + word.size();
    if (end == list.size() || list[end] == ' ') return ' ';
    if ((list[end] == '#' || list[end] == '~') && (end + 1 == list.size() || list[end + 1] == ' ')) return list[end];
  }
  return 0;
}

std::string lower_letters(std::string_view word) {
  std::string out;
  for (size_t at = 0; at < word.size();) {
    const CodePoint c = decode_utf8(word, at);
#if LAPILLI_HAVE_UTF8PROC
    utf8proc_uint8_t bytes[4];
    const auto n = c.valid ? utf8proc_encode_char(utf8proc_tolower(static_cast<utf8proc_int32_t>(c.code)), bytes) : 0;
    if (n > 0) {
      out.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(n));
    } else {
      out.append(word.substr(at, c.bytes));
    }
#else
    if (c.code >= 'A' && c.code <= 'Z') {
      out += static_cast<char>(c.code + 32);
    } else {
      out.append(word.substr(at, c.bytes));
    }
#endif
    at += c.bytes;
  }
  return out;
}

Abbreviation of_mark(char mark) {
  return mark == ' ' ? Abbreviation::always : mark == '#' ? Abbreviation::before_number : Abbreviation::maybe;
}

}  // namespace

Abbreviation find_abbreviation(std::string_view language, std::string_view word) {
  constexpr size_t kLongest = 32;  // bytes; longer than any abbreviation
  if (word.empty() || word.size() > kLongest) return Abbreviation::none;
  const std::string lower = lower_letters(word);
  Abbreviation found = Abbreviation::none;
  for (const LanguageRules& t : kTables) {
    if (!language.empty() && t.code != language) continue;
    const char mark = find_word(t.abbreviations, lower);
    if (mark == 0) continue;
    if (!language.empty()) return of_mark(mark);
    // Another language's abbreviation may be a word of this one: the next word decides.
    found = mark == '#' && found != Abbreviation::maybe ? Abbreviation::before_number : Abbreviation::maybe;
  }
  return found;
}

bool begins_sentence(std::string_view language, std::string_view word) {
  for (const LanguageRules& t : kTables) {
    if ((language.empty() || t.code == language) && find_word(t.starters, word) != 0) return true;
  }
  return false;
}

bool dotted_ordinals(std::string_view language, bool arabic) {
  return find_word(arabic ? "de lb" : "de lb cs sk sl hr sr bs hu fi et lv da nb no nn is tr pl", language) != 0;
}

std::string guess_language(std::string_view text) {
  constexpr size_t kEnough = 2048;  // bytes
  uint32_t counts[std::size(kTables)] = {};
  text = text.substr(0, kEnough);
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find_first_of(" \t\r\n.,;:!?()\"", at), text.size());
    const std::string word = lower_letters(text.substr(at, end - at));
    at = end + 1;
    if (word.empty() || word.size() > 16) continue;
    for (size_t i = 0; i < std::size(kTables); ++i) {
      const std::string_view list = kTables[i].starters;
      // The list's entries have only their first letter capitalized.
      for (size_t k = 0; k < list.size(); k = std::min(list.find(' ', k), list.size() - 1) + 1) {
        const std::string_view one = list.substr(k, std::min(list.find(' ', k), list.size()) - k);
        if (one.size() == word.size() && lower_letters(one) == word) ++counts[i];
      }
    }
  }
  const auto best = std::max_element(std::begin(counts), std::end(counts));
  if (*best < 2 || std::count(std::begin(counts), std::end(counts), *best) > 1) return {};
  return std::string(kTables[best - std::begin(counts)].code);
}

std::string base_language(std::string_view code) {
  std::string base;
  for (char c : code) {
    if (c == '-' || c == '_') break;
    base += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  }
  if (base == "no" || base == "nn" || base == "nno") return "nb";
  for (const LanguageRules& t : kTables) {
    if (t.code3 == base) return std::string(t.code);
  }
  return base;
}

}  // namespace lapilli
